import { isUtf8 } from 'node:buffer';
import * as z from 'zod';
import type { Tool, ToolResult } from '../../tools/tool.ts';
import { ProviderError } from '../channel.ts';
import { isPlainPath } from '../mandate/glob.ts';
import { allowsPath } from '../mandate/permits.ts';
import { no, yes } from '../ticket/tools/context.ts';
import { READING, type RepositoryDeps } from './deps.ts';
import { type Reading, withRepository } from './desk.ts';
import { pageFields, pageOf } from './pages.ts';

const path = z.string().max(1_000).describe('Path in the repository, with "/" between folders.');
const ref = z.string().min(1).max(250).optional().describe('Branch, tag or commit; the default branch if left out.');

const entry = z.object({
  type: z.string(),
  name: z.string(),
  path: z.string(),
  size: z.number().optional(),
});
const file = entry.extend({
  content: z.string().optional(),
  encoding: z.string().optional(),
});

const WRONG_PATH = 'That is no path in the repository: name folders and file, with "/" between them.';

/** Every segment is encoded, so that no name becomes a query or another place of the API. */
const contentsPath = (plain: string): string =>
  plain === '' ? 'contents' : `contents/${plain.split('/').map(encodeURIComponent).join('/')}`;

const refQuery = (at: string | undefined): { readonly [name: string]: string } => (at === undefined ? {} : { ref: at });

/** Without the slashes that people write around paths. */
const trimmed = (text: string): string => text.replace(/^(?:\.?\/)+|\/+$/g, '').replace(/^\.$/, '');

const readSchema = z.strictObject({ path: path.min(1), ref, ...pageFields });

const fileText = (found: z.infer<typeof file>): { readonly text: string } | ToolResult => {
  if (found.type !== 'file') return no(`${found.path} is a ${found.type} and has no text of its own.`);
  if (found.encoding !== 'base64' || found.content === undefined) {
    return no(`${found.path} is too large to be read: it has ${found.size ?? 'too many'} bytes.`);
  }
  const bytes = Buffer.from(found.content, 'base64');
  // NUL is valid UTF-8, but no text that anybody wrote holds it.
  if (!isUtf8(bytes) || bytes.includes(0)) return no(`${found.path} is no text (${bytes.length} bytes).`);
  return { text: bytes.toString('utf8') };
};

export const makeRepoRead = (deps: RepositoryDeps): Tool<z.infer<typeof readSchema>> => ({
  ...READING,
  name: 'repo_read',
  description: 'Reads a text file of the repository, a page at a time.',
  schema: readSchema,
  execute: (args, context) =>
    withRepository(deps, context, async ({ ticket, get }) => {
      const wanted = trimmed(args.path);
      if (!isPlainPath(wanted)) return no(WRONG_PATH);
      if (!allowsPath(ticket.mandate, wanted)) return no(`The mandate does not allow the path ${wanted}.`);
      const answer = await get(contentsPath(wanted), refQuery(args.ref));
      if (Array.isArray(answer)) return no(`${wanted} is a folder: use repo_list.`);
      const text = fileText(file.parse(answer));
      return 'ok' in text ? text : pageOf(text.text, args, { path: wanted, ref: args.ref });
    }),
});

const listSchema = z.strictObject({ path: path.optional(), ref, ...pageFields });

/** GitHub lists so many entries of a folder and says nothing of the rest. */
const MOST_ENTRIES = 1_000;

export const makeRepoList = (deps: RepositoryDeps): Tool<z.infer<typeof listSchema>> => ({
  ...READING,
  name: 'repo_list',
  description: 'Lists a folder of the repository; its root if no path is given.',
  schema: listSchema,
  execute: (args, context) =>
    withRepository(deps, context, async ({ get }) => {
      const wanted = trimmed(args.path ?? '');
      if (wanted !== '' && !isPlainPath(wanted)) return no(WRONG_PATH);
      const answer = await get(contentsPath(wanted), refQuery(args.ref));
      if (!Array.isArray(answer)) return no(`${wanted} is a file: use repo_read.`);
      const entries = z.array(entry).parse(answer);
      const lines = entries.map(({ type, name, size }) =>
        type === 'dir' ? `${name}/` : `${name} (${size ?? 0} bytes)`,
      );
      if (entries.length >= MOST_ENTRIES) lines.push(`… at most ${MOST_ENTRIES} entries are shown`);
      return pageOf(lines.join('\n'), args, { folder: wanted === '' ? '/' : wanted, ref: args.ref });
    }),
});

const searchSchema = z.strictObject({
  query: z.string().min(1).max(200).describe('Words, and qualifiers such as path:src or language:go.'),
  page: z.int().min(1).max(10).optional(),
});

const hits = z.object({
  total_count: z.number(),
  items: z.array(z.object({ path: z.string(), repository: z.object({ id: z.union([z.number(), z.bigint()]) }) })),
});

/** Where it is looked is not the model's to say; the adapter adds the one repository. */
const ELSEWHERE = /(?<!\S)-?"?(?:repo|org|user|owner|enterprise|fork|is|archived|mirror|saved)"?:\S*/gi;
const PER_PAGE = 50;

const searchIn = async ({ ticket, repositoryId, get }: Reading, query: string, page: number): Promise<ToolResult> => {
  const words = query.replace(ELSEWHERE, ' ').replace(/\s+/g, ' ').trim();
  if (words === '') return no('The query names nothing to look for.');
  const answer = await get('search/code', { q: words, per_page: String(PER_PAGE), page: String(page) });
  const { total_count, items } = hits.parse(answer);
  // What GitHub says of another repository, for whatever reason, is not shown.
  const own = items.filter(({ repository }) => String(repository.id) === repositoryId);
  const paths = own.map((each) => each.path).filter((each) => allowsPath(ticket.mandate, each));
  if (paths.length === 0) return yes(`Nothing was found for ${JSON.stringify(words)}.`);
  const more = total_count > page * PER_PAGE ? `\n… page ${page + 1} has more` : '';
  return pageOf(`${paths.join('\n')}${more}`, {}, { search: words });
};

export const makeRepoSearch = (deps: RepositoryDeps): Tool<z.infer<typeof searchSchema>> => ({
  ...READING,
  name: 'repo_search',
  description: 'Searches the files of the default branch for words; gives paths. Recent changes may be missing.',
  schema: searchSchema,
  // GitHub allows ten such searches a minute.
  resource: () => 'repo_search',
  execute: ({ query, page = 1 }, context) =>
    withRepository(deps, context, async (reading) => {
      try {
        return await searchIn(reading, query, page);
      } catch (error) {
        if (!(error instanceof ProviderError) || error.status !== 422) throw error;
        return no('The query cannot be read by the provider: use plain words.');
      }
    }),
});
