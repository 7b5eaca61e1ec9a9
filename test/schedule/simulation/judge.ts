/** What must hold of every play, judged from outside: rows, runs, messages. */
import { occurrenceId } from '../../../lib/schedule/fire.ts';
import type { ScheduleSim } from './sim.ts';
import { MINUTE } from './sim.ts';

export interface Expected {
  /** Due times after the first, ms, that must each have begun one run. */
  readonly runs?: readonly number[];
  /** How many runs there must be in the end. */
  readonly count: number;
  /** No two runs at once. */
  readonly alone?: boolean;
  /** The latest that a run may begin after its due time, ms. */
  readonly lateMs?: number;
  /** The most messages that are sent in all. */
  readonly sends?: number;
  readonly state?: 'COMPLETED' | 'ACTIVE' | 'PAUSED';
}

export const violationsOf = (sim: ScheduleSim, expected: Expected): string[] => {
  const found = sim.surprises.map((error) => `failed unexpectedly: ${String(error)}`);
  const row = sim.schedule;
  const runs = [...sim.runs.values()];
  if (row.runs !== runs.length) found.push(`the row counts ${row.runs} runs, there are ${runs.length}`);
  if (runs.length !== expected.count) found.push(`${runs.length} runs instead of ${expected.count}`);
  for (const offset of expected.runs ?? []) {
    const run = sim.runs.get(occurrenceId({ orgId: sim.orgId, id: sim.scheduleId }, sim.startAt + offset));
    if (run === undefined) found.push(`what was due after ${offset / MINUTE} min did not run`);
    else if (run.began < sim.startAt + offset) found.push(`what was due after ${offset / MINUTE} min ran early`);
    else if (run.began - sim.startAt - offset > (expected.lateMs ?? 90_000)) {
      found.push(`what was due after ${offset / MINUTE} min ran ${run.began - sim.startAt - offset} ms late`);
    }
  }
  for (const run of expected.alone ? runs : []) {
    const beside = runs.find(
      (other) =>
        other.id !== run.id && other.began >= run.began && other.began < (run.ended ?? Number.POSITIVE_INFINITY),
    );
    if (beside !== undefined) found.push(`${beside.id} began while ${run.id} went on`);
  }
  const state = expected.state ?? 'COMPLETED';
  if (row.state !== state) found.push(`it is ${row.state} instead of ${state}`);
  if (row.pending !== undefined) found.push('an occurrence is queued and nothing moves it');
  if (sim.patched !== undefined && row.goals?.[0] !== sim.patched.goals?.[0]) found.push('a patch was undone');
  if (row.state !== 'ACTIVE' && row.dueSk !== undefined) found.push('it has ended and keeps its mark');
  if (sim.queue.size > 0) found.push(`${sim.queue.size} messages are left`);
  const most = expected.sends ?? 12 * (expected.count + 3);
  if (sim.queue.sends > most) found.push(`${sim.queue.sends} messages for ${expected.count} runs`);
  return found;
};
