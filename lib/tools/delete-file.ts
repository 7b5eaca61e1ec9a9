import * as z from 'zod';
import { answering, FILES, pathField } from './file-result.ts';
import type { Tool } from './tool.ts';

const schema = z.strictObject({ path: pathField });

export const deleteFile: Tool<z.infer<typeof schema>> = {
  name: 'delete_file',
  description: 'Deletes a file of this run.',
  schema,
  effect: () => 'idempotent',
  resource: () => FILES,
  timeoutSeconds: 30,
  execute: ({ path }, { files, seq, n }) =>
    answering(async () =>
      (await files.delete(path, { seq, n }))
        ? { ok: true, text: `Deleted ${path}.` }
        : { ok: false, text: `There is no file ${path}. Use list_files to see which files there are.` },
    ),
};
