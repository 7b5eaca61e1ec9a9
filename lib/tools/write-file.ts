import * as z from 'zod';
import { answering, bytesText, FILES, pathField } from './file-result.ts';
import type { Tool } from './tool.ts';

const schema = z.strictObject({
  path: pathField,
  content: z.string().describe('The whole new content of the file.'),
});

export const writeFile: Tool<z.infer<typeof schema>> = {
  name: 'write_file',
  description: 'Writes a text file of this run, replacing it if it exists. Folders need not be made.',
  schema,
  effect: () => 'idempotent',
  resource: () => FILES,
  timeoutSeconds: 30,
  execute: ({ path, content }, { files, seq, n }) =>
    answering(async () => {
      const bytes = Buffer.from(content);
      await files.write(path, bytes, { seq, n });
      return { ok: true, text: `Wrote ${bytesText(bytes.length)} to ${path}.` };
    }),
};
