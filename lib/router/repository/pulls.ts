import * as z from 'zod';
import type { Tool, ToolResult } from '../../tools/tool.ts';
import { allowsPath } from '../mandate/permits.ts';
import { no } from '../ticket/tools/context.ts';
import { READING, type RepositoryDeps } from './deps.ts';
import { type Reading, withRepository } from './desk.ts';
import { by, comment, commentLines, number, PER_PAGE } from './issues.ts';
import { pageFields, pageOf, said } from './pages.ts';

const user = z.object({ login: z.string() }).nullish();
const end = z.object({
  ref: z.string(),
  sha: z.string(),
  repo: z.object({ id: z.union([z.number(), z.bigint()]), full_name: z.string() }).nullish(),
});
const pull = z.object({
  title: z.string(),
  state: z.string(),
  body: z.string().nullish(),
  user,
  draft: z.boolean().nullish(),
  merged: z.boolean().nullish(),
  mergeable_state: z.string().nullish(),
  additions: z.number().nullish(),
  deletions: z.number().nullish(),
  changed_files: z.number().nullish(),
  head: end,
  base: end,
  requested_reviewers: z.array(z.object({ login: z.string() })).nullish(),
});
const review = z.object({
  user,
  state: z.string(),
  body: z.string().nullish(),
  commit_id: z.string().nullish(),
  submitted_at: z.string().nullish(),
});

const short = (sha: string | null | undefined): string => sha?.slice(0, 12) ?? 'no commit';

const endLine = ({ ref, sha, repo }: z.infer<typeof end>): string =>
  `${repo?.full_name ?? 'a repository that is gone'} ${ref} at ${sha}`;

const pullText = (found: z.infer<typeof pull>, of: number): string[] => {
  const fork =
    found.head.repo?.id !== found.base.repo?.id ? ' (a fork: whoever opened it is not of this repository)' : '';
  const state = found.merged === true ? 'merged' : found.draft === true ? `${found.state}, draft` : found.state;
  const asked = found.requested_reviewers?.map(({ login }) => login) ?? [];
  return [
    `Pull request ${of}: ${found.title}`,
    `${state}, opened by ${by(found.user)}, mergeable: ${found.mergeable_state ?? 'unknown'}`,
    `head: ${endLine(found.head)}${fork}`,
    `base: ${endLine(found.base)}`,
    `${found.changed_files ?? 0} files, +${found.additions ?? 0} −${found.deletions ?? 0}`,
    ...(asked.length === 0 ? [] : [`A review is asked of ${asked.join(', ')}.`]),
    '',
    said(found.body),
  ];
};

const pullSchema = z.strictObject({ number, ...pageFields });

export const makeRepoPull = (deps: RepositoryDeps): Tool<z.infer<typeof pullSchema>> => ({
  ...READING,
  name: 'repo_pull',
  description: 'Reads a pull request with its reviews and the notes on its lines; repo_issue has its discussion.',
  schema: pullSchema,
  execute: (args, context) =>
    withRepository(deps, context, async ({ get }) => {
      const all = { per_page: String(PER_PAGE) };
      const [head, reviewList, noteList] = await Promise.all([
        get(`pulls/${args.number}`),
        get(`pulls/${args.number}/reviews`, all),
        get(`pulls/${args.number}/comments`, all),
      ]);
      const reviews = z.array(review).parse(reviewList);
      const notes = z.array(comment).parse(noteList);
      const cut = (list: readonly unknown[]) => (list.length < PER_PAGE ? '' : ` (the first ${PER_PAGE})`);
      const text = [
        ...pullText(pull.parse(head), args.number),
        '',
        `Reviews${cut(reviews)}:`,
        ...reviews.map(
          (each) =>
            `--- ${by(each.user)} ${each.state} ${short(each.commit_id)} at ${each.submitted_at ?? '?'}\n${said(each.body)}`,
        ),
        '',
        `Notes${cut(notes)}:`,
        ...notes.map(commentLines),
      ].join('\n');
      return pageOf(text, args, { pull: args.number });
    }),
});

const changed = z.object({
  filename: z.string(),
  previous_filename: z.string().optional(),
  status: z.string(),
  additions: z.number(),
  deletions: z.number(),
  patch: z.string().optional(),
});

const diffSchema = z.strictObject({
  number,
  path: z.string().min(1).max(1_000).optional().describe('Only this file or folder.'),
  filesPage: z.int().min(1).max(30).optional().describe(`Files come ${PER_PAGE} at a time; 1 if left out.`),
  ...pageFields,
});

const diffText = ({
  filename,
  previous_filename,
  status,
  additions,
  deletions,
  patch,
}: z.infer<typeof changed>): string => {
  const from = previous_filename === undefined ? '' : ` (was ${previous_filename})`;
  return `=== ${status} ${filename}${from} +${additions} −${deletions}\n${patch ?? '(no text is shown: binary or too long)'}`;
};

const isBelow = (name: string, path: string | undefined): boolean =>
  path === undefined || name === path || name.startsWith(`${path.replace(/\/+$/, '')}/`);

const readDiff = async ({ ticket, get }: Reading, args: z.infer<typeof diffSchema>): Promise<ToolResult> => {
  const page = args.filesPage ?? 1;
  const query = { per_page: String(PER_PAGE), page: String(page) };
  const files = z.array(changed).parse(await get(`pulls/${args.number}/files`, query));
  const open = files.filter(({ filename }) => isBelow(filename, args.path));
  const shown = open.filter(({ filename, previous_filename }) =>
    [filename, previous_filename ?? filename].every((name) => allowsPath(ticket.mandate, name)),
  );
  if (files.length === 0) return no('There are no changed files on that page.');
  const lines = [
    ...shown.map(diffText),
    ...(shown.length < open.length ? [`(${open.length - shown.length} files are outside of the mandate)`] : []),
    ...(files.length < PER_PAGE ? [] : [`… more with filesPage ${page + 1}`]),
  ];
  return pageOf(lines.join('\n'), args, { diff: args.number });
};

export const makeRepoDiff = (deps: RepositoryDeps): Tool<z.infer<typeof diffSchema>> => ({
  ...READING,
  name: 'repo_diff',
  description: 'Reads what a pull request changes, file by file.',
  schema: diffSchema,
  execute: (args, context) => withRepository(deps, context, (reading) => readDiff(reading, args)),
});
