import * as z from 'zod';
import type { Tool } from '../../tools/tool.ts';
import { no } from '../ticket/tools/context.ts';
import { READING, type RepositoryDeps } from './deps.ts';
import { type Reading, withRepository } from './desk.ts';
import { number, PER_PAGE } from './issues.ts';
import { pageFields, pageOf, said } from './pages.ts';

const schema = z.strictObject({
  number: number.optional(),
  ref: z
    .string()
    .regex(/^[A-Za-z0-9._/-]{1,250}$/)
    .optional()
    .describe('Branch, tag or commit, instead of the number of a pull request.'),
  ...pageFields,
});

const runs = z.object({
  total_count: z.number(),
  check_runs: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      conclusion: z.string().nullish(),
      html_url: z.string().nullish(),
      output: z.object({ title: z.string().nullish(), summary: z.string().nullish() }).nullish(),
    }),
  ),
});
const combined = z.object({
  state: z.string(),
  statuses: z.array(z.object({ context: z.string(), state: z.string(), description: z.string().nullish() })),
});
const head = z.object({ head: z.object({ sha: z.string() }) });

const commitOf = async ({ get }: Reading, of: number | undefined, ref: string | undefined): Promise<string> =>
  of === undefined ? (ref ?? '') : head.parse(await get(`pulls/${of}`)).head.sha;

export const makeRepoChecks = (deps: RepositoryDeps): Tool<z.infer<typeof schema>> => ({
  ...READING,
  name: 'repo_checks',
  description: 'Reads how checks and statuses of a pull request, branch or commit stand.',
  schema,
  execute: (args, context) =>
    withRepository(deps, context, async (reading) => {
      if ((args.number === undefined) === (args.ref === undefined)) return no('Give either number or ref.');
      const commit = await commitOf(reading, args.number, args.ref);
      const at = `commits/${encodeURIComponent(commit)}`;
      const query = { per_page: String(PER_PAGE) };
      const [runList, statusList] = await Promise.all([
        reading.get(`${at}/check-runs`, query),
        reading.get(`${at}/status`, query),
      ]);
      const { total_count, check_runs } = runs.parse(runList);
      const { state, statuses } = combined.parse(statusList);
      const text = [
        `Checks of ${commit}: ${total_count}`,
        ...check_runs.map(({ name, status, conclusion, html_url, output }) => {
          const about = [output?.title, output?.summary].filter((each) => each).join(': ');
          return `- ${name}: ${conclusion ?? status}${html_url ? ` ${html_url}` : ''}${about === '' ? '' : `\n  ${said(about)}`}`;
        }),
        ...(total_count > check_runs.length ? [`… ${total_count - check_runs.length} more are not shown`] : []),
        `Statuses: ${statuses.length === 0 ? 'none' : state}`,
        ...statuses.map(
          (each) => `- ${each.context}: ${each.state}${each.description ? ` (${each.description})` : ''}`,
        ),
      ].join('\n');
      return pageOf(text, args, { checks: commit });
    }),
});
