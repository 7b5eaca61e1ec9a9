import { type Execution, readExecution } from '../execution/execution.ts';
import type { At } from '../execution/get.ts';
import { keys } from '../kernel/keys.ts';
import { add, eq, missing, set, type Table, TransactionRefused, type Write } from '../kernel/table.ts';
import { FIGURES, type Share, sharesOf } from './figures.ts';
import { NEVER_ROLLED, ROLLED_VERSION, readRolled, totalsOf, totalsText } from './totals.ts';

export const USAGE_VERSION = 1;

/** Rows that share what one key uses on one day, so that no row is hot. */
const SHARDS = 4;

/** Another roll-up of the same run was faster each time: as many as there are functions that might. */
const MAX_TRIES = 8;

/** Moves on with each roll-up: who met somebody at a row meets somebody else at the next. */
export const shardOf = (executionId: string, times: number): number => {
  let hash = times;
  for (const character of executionId) hash = (hash * 31 + character.charCodeAt(0)) >>> 0;
  return hash % SHARDS;
};

export const addTo = (orgId: string, shard: number, { dimension, key, day, figures }: Share): Write => ({
  update: keys.usage(orgId, dimension, key, day, shard),
  changes: [
    set('v', USAGE_VERSION),
    set('key', key),
    set('day', day),
    ...FIGURES.filter((figure) => figures[figure] !== 0).map((figure) => add(figure, figures[figure])),
  ],
});

/**
 * Adds what a run has used since the last time to the usage rows. One transaction moves the run's mark of what is rolled
 * up and adds the difference: it may be called at any time, twice, or late, and nothing is counted twice or lost.
 * @returns the execution as it was read; `undefined` when there is none
 */
export const rollUp = async (deps: { readonly table: Table }, at: At): Promise<Execution | undefined> => {
  const { table } = deps;
  for (let attempt = 1; ; attempt++) {
    // In this order: the totals are never older than what was rolled up.
    const mark = await table.get(keys.rolled(at.orgId, at.executionId), { consistent: true });
    const item = await table.get(keys.execution(at.orgId, at.executionId), { consistent: true });
    if (item === undefined) return undefined;
    const execution = readExecution(item);
    const rolled = mark === undefined ? NEVER_ROLLED : readRolled(mark);
    const totals = totalsOf(execution, rolled);
    const shares = sharesOf(execution, rolled, totals);
    if (shares.length === 0) return execution;
    const shard = shardOf(at.executionId, rolled.times);
    try {
      await table.transact([
        {
          update: keys.rolled(at.orgId, at.executionId),
          changes: [set('v', ROLLED_VERSION), set('times', rolled.times + 1), set('totals', totalsText(totals))],
          if: mark === undefined ? missing('pk') : eq('times', rolled.times),
        },
        ...shares.map((share) => addTo(at.orgId, shard, share)),
      ]);
      return execution;
    } catch (error) {
      // Somebody rolled it up meanwhile, perhaps before the newest commit: looked at again.
      if (!(error instanceof TransactionRefused) || attempt === MAX_TRIES) throw error;
    }
  }
};
