/** How the checks of a commit stand, from GitHub's API. */
import * as z from 'zod';
import type { Provider } from '../../router/channel.ts';
import { pull, time } from './payload.ts';

type Reader = Pick<Provider, 'get'>;

const openPull = pull.extend({
  state: z.string(),
  base: z.object({ repo: z.object({ id: z.int() }) }),
});
export type OpenPull = z.output<typeof openPull>;

/**
 * Open pull requests whose head the commit is now. Payloads name none for forks, and for others those of the time of the
 * event: a commit that is not the head any more is no concern of anybody.
 * @throws ProviderError
 */
export const pullsAt = async (provider: Reader, repositoryId: string, sha: string): Promise<readonly OpenPull[]> => {
  const found = z.array(openPull).parse(await provider.get(repositoryId, `commits/${sha}/pulls`));
  return found.filter(
    ({ state, head, base }) => state === 'open' && head.sha === sha && String(base.repo.id) === repositoryId,
  );
};

const runs = z.object({
  total_count: z.int(),
  check_runs: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      conclusion: z.string().nullish(),
      started_at: time,
      completed_at: time,
      app: z.object({ id: z.int() }).nullish(),
    }),
  ),
});
type Run = z.output<typeof runs>['check_runs'][number];

/** Of each context the newest. */
const statuses = z.object({
  statuses: z.array(z.object({ context: z.string(), state: z.string(), updated_at: time })),
});

export interface Standing {
  /** Names with their conclusion, sorted. */
  readonly failed: readonly string[];
  readonly passed: number;
  readonly running: number;
  /**
   * When the newest part of it came to be so, ms since the epoch. GitHub tells whole seconds: of two looks at one second
   * the one that finds more at its end is the later one.
   */
  readonly at: number | undefined;
}

const PAGE = 100;
/** Further checks of one commit are left out. */
const MOST_PAGES = 5;
const MOST_NAMED = 30;
const MOST_WITHIN_SECOND = 999;
const LONGEST_NAME = 100;

/** @param ownApp whose checks are left out: we know what we said */
export const standingAt = async (
  provider: Reader,
  repositoryId: string,
  sha: string,
  ownApp: string | undefined,
): Promise<Standing> => {
  const [all, combined] = await Promise.all([
    allRuns(provider, repositoryId, sha),
    provider.get(repositoryId, `commits/${sha}/status`, { per_page: String(PAGE) }),
  ]);
  const told = statuses.parse(combined).statuses;
  const others = all.filter(({ app }) => app === null || app === undefined || String(app.id) !== ownApp);
  const done = others.filter(({ status }) => status === 'completed');
  const bad = [
    ...done
      .filter(({ conclusion }) => BAD.has(conclusion ?? ''))
      .map(({ name, conclusion }) => named(name, conclusion)),
    ...told.filter(({ state }) => state === 'failure' || state === 'error').map((s) => named(s.context, s.state)),
  ];
  const pending = told.filter(({ state }) => state === 'pending').length;
  const times = [...done.map((run) => run.completed_at), ...told.map((each) => each.updated_at)];
  const known = times.filter((at) => at !== undefined);
  return {
    failed: [...new Set(bad)].sort().slice(0, MOST_NAMED),
    passed: done.length + told.length - pending - bad.length,
    running: others.length - done.length + pending,
    at:
      known.length === 0
        ? undefined
        : Math.max(...known) + Math.min(MOST_WITHIN_SECOND, done.length + told.length - pending),
  };
};

const BAD = new Set(['failure', 'timed_out', 'action_required', 'startup_failure']);

/** A name is what somebody called it, and a line of ours must stay one line. */
const named = (name: string, how: string | null | undefined): string =>
  `${name.replace(/\s+/g, ' ').slice(0, LONGEST_NAME)} (${how ?? ''})`;

/** `filter=latest` leaves out runs that a repeat has replaced. */
const allRuns = async (provider: Reader, repositoryId: string, sha: string): Promise<readonly Run[]> => {
  const found: Run[] = [];
  for (let page = 1; page <= MOST_PAGES; page++) {
    const query = { filter: 'latest', per_page: String(PAGE), page: String(page) };
    const answer = runs.parse(await provider.get(repositoryId, `commits/${sha}/check-runs`, query));
    found.push(...answer.check_runs);
    if (answer.check_runs.length < PAGE) break;
  }
  return found;
};
