import { wake } from '../execution/control.ts';
import { readExecution } from '../execution/execution.ts';
import { type StartDeps, startOnce } from '../execution/start.ts';
import { isTerminal, STOPPED } from '../execution/status.ts';
import { NotYet, type StepDeps } from '../execution/step/deps.ts';
import { AppError, UnreadableRow } from '../kernel/errors.ts';
import { derivedId } from '../kernel/ids.ts';
import { ifStill } from '../kernel/if-still.ts';
import { due, keys } from '../kernel/keys.ts';
import { and, eq, remove, set, TransactionRefused } from '../kernel/table.ts';
import { announce, asRead, changed, replace, type ScheduleDeps, sendFire } from './announce.ts';
import { asksForRun, type Decision, judge } from './judge.ts';
import { markTime, withMark } from './mark.ts';
import type { FireMessage } from './message.ts';
import { findSchedule, type Schedule, scheduleItem } from './schedule.ts';
import { type StopReason, stopSchedule } from './stop.ts';

export type FireDeps = ScheduleDeps & StartDeps & Pick<StepDeps, 'crowd'>;

/** Races with people and with ends of runs: each loser reads again. */
const MAX_TRIES = 8;
/** SQS delays by whole seconds, and messages are sent two seconds early; what is left waits here. */
const LONGEST_SLEEP_MS = 3_500;

/**
 * Does what a schedule is due for. All that is decided stands on the row as it was read: the transaction that starts the
 * run replaces exactly that version, so that of two deliveries one decides. The run's id comes from the due time, so
 * that no occurrence starts twice however the row was changed meanwhile.
 *
 * Only who has written the next occurrence sends its message: copies of a message die out.
 * @throws NotYet when others were faster each time; whatever the ports say: the message comes back
 */
export const fireSchedule = async (deps: FireDeps, message: FireMessage): Promise<void> => {
  const begun = new Set<number>();
  if (message.dueAt !== undefined) deps.crowd?.join(deps.clock.now());
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const seen = await findSchedule(deps.table, message);
    if (seen === undefined) return;
    await untilDue(deps, message, seen);
    const now = deps.clock.now();
    const decision = judge(seen, now, asksForRun(seen, now) && (await goesOn(deps, seen)));
    if (decision.do === 'rest') return rest(deps, message, seen, now);
    const done =
      decision.do === 'pass'
        ? await pass(deps, seen, decision.after, now)
        : await start(deps, seen, decision, begun, now);
    if (done) return;
  }
  throw new NotYet('The schedule changed each time it was read.');
};

const untilDue = async (deps: FireDeps, message: FireMessage, { state, nextAt }: Schedule): Promise<void> => {
  if (state !== 'ACTIVE' || nextAt === undefined || message.dueAt !== nextAt) return;
  const wait = nextAt - deps.clock.now();
  if (wait > 0 && wait <= LONGEST_SLEEP_MS) await deps.clock.sleep(wait);
};

/** A run that waits for a mend does not count as running. */
const goesOn = async (deps: FireDeps, { orgId, current }: Schedule): Promise<boolean> => {
  if (current === undefined) return false;
  const item = await deps.table.get(keys.execution(orgId, current), { consistent: true });
  if (item === undefined) return false;
  const { status } = readExecution(item);
  return !isTerminal(status) && !STOPPED.includes(status);
};

const pass = async (deps: FireDeps, seen: Schedule, decided: Schedule, now: number): Promise<boolean> => {
  const after = withMark(changed(decided, seen, now), markTime(decided, now));
  if (!(await replace(deps, seen, after))) return false;
  await announce(deps, after, now);
  return true;
};

export const occurrenceId = (schedule: Pick<Schedule, 'orgId' | 'id'>, dueAt: number): string =>
  derivedId('exe', dueAt, `${schedule.orgId} ${schedule.id} ${dueAt}`);

/** @returns false when the row has to be read again */
const start = async (
  deps: FireDeps,
  seen: Schedule,
  decision: Extract<Decision, { do: 'start' }>,
  begun: Set<number>,
  now: number,
): Promise<boolean> => {
  const { dueAt } = decision;
  const executionId = occurrenceId(seen, dueAt);
  const fired = { dueAt, at: now, outcome: 'started' as const, executionId };
  // Its run began in an earlier life of the schedule, before a person set it back to this time.
  const twice = begun.has(dueAt);
  const decided = twice ? decision.passed : { ...decision.after, current: executionId };
  const next = changed({ ...decided, lastFire: fired }, seen, now);
  const after = withMark(next, markTime(next, now));
  const began = twice ? await passOver(deps, seen, after) : await begin(deps, seen, after, { executionId, dueAt }, now);
  if (began === 'there') begun.add(dueAt);
  if (began === 'begun') await announce(deps, after, now);
  return began === 'begun' || began === 'stopped';
};

const passOver = async (deps: FireDeps, seen: Schedule, after: Schedule): Promise<Began> =>
  (await replace(deps, seen, after)) ? 'begun' : 'refused';

type Began = 'begun' | 'there' | 'refused' | 'stopped';

const begin = async (
  deps: FireDeps,
  seen: Schedule,
  after: Schedule,
  { executionId, dueAt }: { readonly executionId: string; readonly dueAt: number },
  now: number,
): Promise<Began> => {
  const { orgId, agentId, id: scheduleId, goals, instructions } = seen;
  const config = { ...(goals !== undefined && { goals }), ...(instructions !== undefined && { instructions }) };
  // Others of the same second start before this run takes its first step.
  const aside = () => deps.crowd?.aside(seen.pending === undefined ? dueAt : now, deps.clock.now()) ?? 0;
  try {
    const { fresh } = await startOnce(deps, {
      orgId,
      agentId,
      executionId,
      scheduleId,
      aside,
      config,
      alongside: () => [{ put: scheduleItem(after), if: asRead(seen) }],
    });
    return fresh ? 'begun' : 'there';
  } catch (error) {
    if (error instanceof TransactionRefused) return 'refused';
    const reason = hopeless(error);
    if (reason === undefined) throw error;
    return (await stopSchedule(deps, seen, reason, now)) ? 'stopped' : 'refused';
  }
};

/** What no repeat mends, in words for the person who can. */
const hopeless = (error: unknown): StopReason | undefined => {
  if (error instanceof UnreadableRow) {
    return { code: 'unreadable_row', message: 'The agent or its configuration cannot be read.' };
  }
  if (!(error instanceof AppError) || error.status >= 500) return undefined;
  if (error.status === 404) return { code: 'agent_deleted', message: 'The agent of this schedule was deleted.' };
  return { code: error.code, message: `The run could not be started: ${error.message}` };
};

/** Nothing is due: the message was early, or a copy, or asked for a queued occurrence in vain. */
const rest = async (deps: FireDeps, message: FireMessage, seen: Schedule, now: number): Promise<void> => {
  const { state, nextAt, lastFire } = seen;
  if (message.dueAt !== undefined && message.dueAt === lastFire?.dueAt && lastFire.executionId !== undefined) {
    await wakeAgain(deps, seen.orgId, lastFire.executionId);
  }
  if (state === 'ACTIVE' && nextAt !== undefined && message.dueAt === nextAt) return sendFire(deps, seen, now);
  if (seen.dueSk === undefined || due.at(seen.dueSk) > now) return;
  // The end of a run has set the mark to now.
  const after = withMark(seen, markTime(seen, now));
  const changes =
    after.dueSk === undefined ? [remove('duePk'), remove('dueSk')] : [set('dueSk', after.dueSk), remove('backoff')];
  const moved = await ifStill(() =>
    deps.table.update(keys.schedule(seen.orgId, seen.id), changes, and(asRead(seen), eq('dueSk', String(seen.dueSk)))),
  );
  if (moved) await announce(deps, seen, now);
};

/** Whoever started this run may have died before its first message went out. */
const wakeAgain = async (deps: FireDeps, orgId: string, executionId: string): Promise<void> => {
  const item = await deps.table.get(keys.execution(orgId, executionId), { consistent: true });
  const execution = item && readExecution(item);
  if (execution?.status === 'RUNNING' && execution.seq === 1 && execution.claims === 0) await wake(deps, execution);
};
