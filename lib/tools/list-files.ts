import * as z from 'zod';
import { answering, bytesText, FILES } from './file-result.ts';
import type { Tool } from './tool.ts';

/** More names than this would only fill the window. */
const SHOWN = 500;

const schema = z.strictObject({});

export const listFilesTool: Tool<z.infer<typeof schema>> = {
  name: 'list_files',
  description: 'Lists the files of this run with their sizes.',
  schema,
  effect: () => 'none',
  resource: () => FILES,
  timeoutSeconds: 30,
  execute: (_, { files }) =>
    answering(async () => {
      const all = await files.list();
      if (all.length === 0) return { ok: true, text: 'There are no files yet.' };
      const lines = all.slice(0, SHOWN).map(({ path, bytes }) => `- ${path} (${bytesText(bytes)})`);
      if (all.length > SHOWN) lines.push(`… and ${all.length - SHOWN} more`);
      return { ok: true, text: `${all.length} ${all.length === 1 ? 'file' : 'files'}:\n${lines.join('\n')}` };
    }),
};
