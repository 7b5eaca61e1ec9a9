import { TICK_HORIZON_MS } from '../../lib/execution/clock.ts';
import { A, type Execution } from '../../lib/execution/execution.ts';
import { REPLY_N } from '../../lib/execution/feed.ts';
import { MAX_DELAY_SECONDS } from '../../lib/execution/step/claim.ts';
import { due, keys } from '../../lib/kernel/keys.ts';
import type { Item } from '../../lib/kernel/table.ts';
import { readExecution, readFeedRow, readInput } from './reads.ts';
import type { Sim } from './sim-run.ts';

/**
 * A wait ends at its time, or by a message where it may; while it lasts, its mark stands at its time, or where the tick comes to
 * it when a message that is on its way by itself has been lost.
 */
export const waitsAreKept = (sim: Sim, execution: Execution): string[] =>
  sim.observed.observations.flatMap(({ at, process, executionId, from, to }) => {
    if (executionId !== execution.executionId) return [];
    const found: string[] = [];
    const until = Number(to[A.waitUntil] ?? 0);
    if (from?.[A.status] === 'WAIT_STEP' && to[A.status] === 'RUNNING' && until > 0) {
      const heard = from[A.wakeOnInput] === true && Number(to[A.wakingInputs]) > Number(from[A.wakingInputs]);
      if (!heard && until > at + process.aheadMs) found.push(`a wait ended ${until - at} ms before its time`);
    }
    const begins = to[A.status] === 'WAIT_STEP' && from?.[A.status] !== 'WAIT_STEP';
    if (begins && until > 0 && !marksOf(until, until - at - process.aheadMs).includes(markOf(to))) {
      found.push(`3: a wait until ${until} began with the mark ${String(to.dueSk)}`);
    }
    if (begins && to[A.wakeOnInput] === true && isDeaf(sim, to)) found.push('a wait began over an unread message');
    return found;
  });

/** A process that stood still between its look at the clock and its write has a wait that is shorter by then. */
const STOOD_STILL_MS = 120_000;

const marksOf = (until: number, leftMs: number): readonly number[] => {
  const longest = MAX_DELAY_SECONDS * 1_000;
  return [
    ...(leftMs <= longest ? [until + TICK_HORIZON_MS] : []),
    ...(leftMs > longest - STOOD_STILL_MS ? [until] : []),
  ];
};

const markOf = ({ dueSk }: Item): number => (typeof dueSk === 'string' ? due.at(dueSk) : Number.NaN);

/** A message that the prompt did not show and that answers no question came before the wait. */
const isDeaf = (sim: Sim, to: Item): boolean => {
  const { orgId, executionId, seq, wakingInputs } = readExecution(to);
  const items = sim.memory.dump().filter((item) => item.pk === to.pk);
  const row = items.find((item) => item.sk === keys.feed(orgId, executionId, seq, REPLY_N).sk);
  const reply = row && readFeedRow(row);
  const answers = items
    .filter((item) => item.sk.startsWith('INPUT#'))
    .some((item) => readInput(item).answers !== undefined);
  return reply?.kind === 'reply' && !answers && wakingInputs > reply.waking;
};
