import * as z from 'zod';
import type { Tool } from '../../tools/tool.ts';
import { READING, type RepositoryDeps } from './deps.ts';
import { withRepository } from './desk.ts';
import { pageFields, pageOf, said } from './pages.ts';

export const number = z.int().min(1).max(1_000_000_000).describe('Number of the issue or pull request.');

const user = z.object({ login: z.string() }).nullish();
export const by = (whom: z.infer<typeof user>): string => whom?.login ?? 'somebody who is gone';

const issue = z.object({
  title: z.string(),
  state: z.string(),
  state_reason: z.string().nullish(),
  body: z.string().nullish(),
  user,
  labels: z.array(z.union([z.string(), z.object({ name: z.string().nullish() })])).default([]),
  comments: z.number().default(0),
  pull_request: z.unknown().optional(),
});
export const comment = z.object({
  user,
  body: z.string().nullish(),
  created_at: z.string(),
  path: z.string().optional(),
  line: z.number().nullish(),
});
type Comment = z.infer<typeof comment>;

export const PER_PAGE = 100;

/** Who, when, where, and what was said. */
export const commentLines = ({ user: whom, body, created_at, path, line }: Comment): string => {
  const where = path === undefined ? '' : ` on ${path}${line === null || line === undefined ? '' : `:${line}`}`;
  return `--- ${by(whom)} at ${created_at}${where}\n${said(body)}`;
};

const schema = z.strictObject({
  number,
  commentsPage: z.int().min(1).max(100).optional().describe(`Comments come ${PER_PAGE} at a time; 1 if left out.`),
  ...pageFields,
});

export const makeRepoIssue = (deps: RepositoryDeps): Tool<z.infer<typeof schema>> => ({
  ...READING,
  name: 'repo_issue',
  description: 'Reads an issue, or the discussion of a pull request, with its comments.',
  schema,
  execute: (args, context) =>
    withRepository(deps, context, async ({ get }) => {
      const page = args.commentsPage ?? 1;
      const [head, list] = await Promise.all([
        get(`issues/${args.number}`),
        get(`issues/${args.number}/comments`, { per_page: String(PER_PAGE), page: String(page) }),
      ]);
      const found = issue.parse(head);
      const comments = z.array(comment).parse(list);
      const labels = found.labels.map((label) => (typeof label === 'string' ? label : (label.name ?? '')));
      const why = found.state_reason ? ` (${found.state_reason})` : '';
      const more = found.comments > page * PER_PAGE ? `\n… more with commentsPage ${page + 1}` : '';
      const text = [
        `${found.pull_request === undefined ? 'Issue' : 'Pull request'} ${args.number}: ${found.title}`,
        `${found.state}${why}, opened by ${by(found.user)}, ${found.comments} comments${labels.length === 0 ? '' : `, labels: ${labels.join(', ')}`}`,
        ...(page === 1 ? ['', said(found.body)] : []),
        '',
        ...comments.map(commentLines),
      ].join('\n');
      return pageOf(`${text}${more}`, args, { issue: args.number });
    }),
});
