import * as z from 'zod';
import { answering, bytesText, FILES, pathField } from './file-result.ts';
import type { Tool } from './tool.ts';

const schema = z.strictObject({
  path: pathField,
  content: z.string().min(1).describe('Text to add at the end, with its own line breaks.'),
});

export const appendFile: Tool<z.infer<typeof schema>> = {
  name: 'append_file',
  description: 'Adds text to the end of a file of this run. Creates the file if there is none.',
  schema,
  effect: () => 'idempotent',
  resource: () => FILES,
  timeoutSeconds: 30,
  execute: ({ path, content }, { files, seq, n }) =>
    answering(async () => {
      const bytes = Buffer.from(content);
      await files.append(path, bytes, { seq, n });
      return { ok: true, text: `Added ${bytesText(bytes.length)} to ${path}.` };
    }),
};
