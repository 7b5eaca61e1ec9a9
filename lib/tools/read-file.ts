import { isUtf8 } from 'node:buffer';
import * as z from 'zod';
import { answering, bytesText, FILES } from './file-result.ts';
import type { Tool, ToolResult } from './tool.ts';

/** Characters of one page: about 2,000 tokens of English. */
const PAGE = 8_000;

const schema = z.strictObject({
  path: z.string().min(1).max(512).describe('Path of the file, or a "~spilled/…" path that a cut result named.'),
  offset: z.int().nonnegative().optional().describe('Characters to skip; 0 if left out.'),
  limit: z.int().min(1).max(PAGE).optional().describe(`Characters to read; ${PAGE} if left out.`),
});

export const readFile: Tool<z.infer<typeof schema>> = {
  name: 'read_file',
  description: `Reads a text file of this run, at most ${PAGE} characters at once; the answer says how to go on.`,
  schema,
  effect: () => 'none',
  resource: () => FILES,
  timeoutSeconds: 30,
  execute: ({ path, offset, limit }, { files }) =>
    answering(async () => {
      const content = await files.read(path);
      if (content === undefined) {
        return { ok: false, text: `There is no file ${path}. Use list_files to see which files there are.` };
      }
      return page(path, content, offset ?? 0, limit ?? PAGE);
    }),
};

const page = (path: string, content: Uint8Array, offset: number, limit: number): ToolResult => {
  // NUL is valid UTF-8, but no text that anybody wrote holds it.
  if (!isUtf8(content) || content.includes(0)) {
    return { ok: false, text: `${path} is not a text file (${bytesText(content.length)}) and cannot be read as text.` };
  }
  const text = Buffer.from(content).toString('utf8');
  if (text.length === 0) return { ok: true, text: `[${path} is empty]` };
  if (offset >= text.length) {
    return { ok: false, text: `${path} has ${text.length} characters; there is nothing at offset ${offset}.` };
  }
  const start = isSecondHalf(text, offset) ? offset - 1 : offset;
  const end = Math.min(start + limit, text.length);
  const stop = end < text.length && isSecondHalf(text, end) ? end + 1 : end;
  const head =
    start === 0 && stop === text.length
      ? `[${path}, all ${text.length} characters]`
      : `[${path}, characters ${start} to ${stop} of ${text.length}${stop < text.length ? `; read on with offset ${stop}` : ''}]`;
  return { ok: true, text: `${head}\n${text.slice(start, stop)}` };
};

/** A cut between the halves of a character outside the basic plane would damage it. */
const isSecondHalf = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00;
