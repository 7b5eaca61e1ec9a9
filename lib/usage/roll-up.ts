import { type Execution, readExecution } from '../execution/execution.ts';
import type { At } from '../execution/get.ts';
import { keys } from '../kernel/keys.ts';
import { eq, missing, set, type Table, TransactionRefused, type Write } from '../kernel/table.ts';
import { NO_PROJECT, type Share, sharesOf } from './figures.ts';
import { additionsOf, USAGE_VERSION } from './row.ts';
import { markOf, NEVER_ROLLED, readRolled, totalsOf } from './totals.ts';

/**
 * Rows that share what the runs of one agent use on one day. DynamoDB refuses transactions that meet on a row (they are
 * tried again), and one takes some 20 ms: 4 rows hold a hundred running runs of one agent, each rolled up once a minute, at a
 * chance of one in a hundred to meet. More would make more rows to read.
 */
const SHARDS = 4;

/** Another roll-up of the same run was faster each time: as many as there are functions that might. */
const MAX_TRIES = 8;

/** Always the same one for a run: an agent with one run a day has one row a day. */
const shardOf = (executionId: string): number => {
  let hash = 0;
  for (const character of executionId) hash = (hash * 31 + character.charCodeAt(0)) >>> 0;
  return hash % SHARDS;
};

/** None where there is nothing to add. */
const addTo = ({ orgId, executionId, agentId, projectId = NO_PROJECT }: Execution, share: Share): readonly Write[] => {
  const changes = additionsOf(share);
  const row = keys.usage(orgId, share.day, agentId, projectId, shardOf(executionId));
  return changes.length === 0 ? [] : [{ update: row, changes: [set('v', USAGE_VERSION), ...changes] }];
};

/**
 * Adds what a run has used since the last time to the usage row of the day. One transaction moves the run's mark of what is
 * rolled up and adds the difference: it may be called at any time, twice, or late, and nothing is counted twice or lost.
 * Two rows below 1 KB are four write units; three rows where a run that started on another day has news for that day.
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
    const additions = sharesOf(execution, rolled, totals).flatMap((share) => addTo(execution, share));
    if (additions.length === 0) return execution;
    try {
      await table.transact([
        {
          update: keys.rolled(at.orgId, at.executionId),
          changes: markOf({ ...totals, times: rolled.times + 1 }),
          if: mark === undefined ? missing('pk') : eq('times', rolled.times),
        },
        ...additions,
      ]);
      return execution;
    } catch (error) {
      // Somebody rolled it up meanwhile, perhaps before the newest commit: looked at again.
      if (!(error instanceof TransactionRefused) || attempt === MAX_TRIES) throw error;
    }
  }
};
