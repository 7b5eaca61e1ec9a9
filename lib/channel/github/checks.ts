/**
 * Checks, statuses and runs of workflows. Their events come in any order and tell of one part each, so an event only says
 * "look": what stands is read from the API, and all that stands about one head commit of a pull request is one Trigger.
 */
import * as z from 'zod';
import type { Outcome, Resolution } from '../../router/channel.ts';
import { basis, type Context, defineEvent, drop, OWN, outcomes } from './event.ts';
import { isOwnApp, repository, sha, threadOfPull } from './payload.ts';
import { type OpenPull, pullsAt, type Standing, standingAt } from './standing.ts';

const app = z.object({ id: z.int() }).nullish();

interface Look {
  readonly repository: { readonly id: number; readonly full_name: string };
  readonly sha: string;
  readonly app: { readonly id: number } | null | undefined;
}

const checkRunSchema = z.object({
  check_run: z.object({ head_sha: sha, conclusion: z.string().nullish(), app }),
  repository,
});
const checkSuiteSchema = z.object({ check_suite: z.object({ head_sha: sha, app }), repository });
const workflowRunSchema = z.object({ workflow_run: z.object({ head_sha: sha }), repository });
const statusSchema = z.object({ sha, state: z.string(), repository });

/** GitHub names the pusher as the sender, who may be us; whose check it is only its app tells. */
const ownApp = (what: { readonly app?: { readonly id: number } | null | undefined }, source: Context['source']) =>
  isOwnApp(what.app, source) ? OWN : undefined;

const GOOD = ['success', 'neutral', 'skipped'];

export const checkRun = defineEvent({
  actions: ['completed'],
  schema: checkRunSchema,
  // The end of the suite follows the last of its checks; before it, only a failure is news.
  drop: ({ check_run: run }, source) =>
    ownApp(run, source) ??
    (GOOD.includes(run.conclusion ?? '')
      ? { code: 'waits_for_suite', message: 'A check that is well; the end of its suite is looked at.' }
      : undefined),
  read: ({ check_run: { head_sha: commit, app: by }, repository: at }, context) =>
    look({ repository: at, sha: commit, app: by }, context),
});

export const checkSuite = defineEvent({
  actions: ['completed'],
  schema: checkSuiteSchema,
  drop: ({ check_suite: suite }, source) => ownApp(suite, source),
  read: ({ check_suite: { head_sha: commit, app: by }, repository: at }, context) =>
    look({ repository: at, sha: commit, app: by }, context),
});

export const workflowRun = defineEvent({
  actions: ['completed'],
  schema: workflowRunSchema,
  read: ({ workflow_run: { head_sha: commit }, repository: at }, context) =>
    look({ repository: at, sha: commit, app: undefined }, context),
});

export const status = defineEvent({
  actions: [''],
  schema: statusSchema,
  drop: ({ state }) =>
    state === 'pending' ? { code: 'status_pending', message: 'It only says that something began.' } : undefined,
  read: ({ sha: commit, repository: at }, context) => look({ repository: at, sha: commit, app: undefined }, context),
});

const look = async (event: Look, context: Context): Promise<Resolution> => {
  if (context.source.signsInBy === 'none') return drop('no_access', 'The source may not ask what stands.');
  const at = String(event.repository.id);
  const provider = await context.ask(at);
  const pulls = await pullsAt(provider, at, event.sha);
  if (pulls.length === 0) return drop('no_pull_request', 'The commit is the head of no open pull request.');
  const standing = await standingAt(provider, at, event.sha, context.source.self?.appId);
  if (standing.failed.length === 0 && standing.running > 0) return drop('checks_running', 'Others are still running.');
  if (standing.failed.length === 0 && standing.passed === 0) return drop('no_checks', 'There is nothing to tell.');
  return outcomes(...pulls.map((pull) => trigger(event, pull, standing, context)));
};

/** No person's word, whatever a check is called; so its actor is an app whoever pushed. */
const trigger = (event: Look, pull: OpenPull, standing: Standing, context: Context): Outcome => {
  const thread = threadOfPull(event.repository, pull);
  return {
    make: 'trigger',
    thread,
    trigger: {
      // The time is that of what stands, so that a look which is stored late cannot replace a later one.
      ...basis(context, 'check_run', standing.at),
      objectId: `checks/${pull.id}/${event.sha}`,
      kind: 'check',
      actor: { id: event.app ? `app:${event.app.id}` : 'checks', type: 'app' },
      text: textOf(event.sha, standing),
      replyTo: thread.replyTo,
      repositoryId: String(event.repository.id),
      ...(thread.url !== undefined && { url: thread.url }),
    },
    edited: false,
  };
};

/** Says nothing of what still runs, so that its end alone is no news. */
const textOf = (commit: string, { failed, passed }: Standing): string =>
  failed.length > 0
    ? `Checks of ${commit} failed: ${failed.join(', ')}.`
    : `Checks of ${commit} passed: ${passed === 1 ? 'the only one' : `all ${passed}`}.`;
