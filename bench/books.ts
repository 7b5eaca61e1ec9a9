import { setTimeout as sleep } from 'node:timers/promises';
import { A } from '../lib/execution/execution.ts';
import { due, keys } from '../lib/kernel/keys.ts';
import type { TracedRequest } from '../local/gateway/trace.ts';
import type { BenchCloud } from './cloud.ts';
import { type Observer, type Work, workOf } from './observe.ts';
import { invocationsOf } from './rounds.ts';
import { withRows } from './rows.ts';
import { functionOf } from './steps.ts';

/**
 * The requests of a roll-up among those of an invocation: two reads, then one transaction over the run's mark and the row
 * of the day. Empty where there is none.
 */
export const rollUpOf = (requests: readonly TracedRequest[]): readonly TracedRequest[] => {
  const sorted = requests.toSorted((a, b) => a.start - b.start);
  const at = sorted.findIndex(({ action }) => action === 'TransactWriteItems');
  const found = sorted.slice(Math.max(0, at - 2), at + 1);
  return found.length === 3 && found.slice(0, 2).every(({ action }) => action === 'GetItem') ? found : [];
};

const STEPS = 4;

/**
 * One roll-up of a running run with one model and one tool. It is due when a commit moves the run's mark, once a minute: the
 * mark is set back, so that nobody has to wait for the minute.
 * @returns `undefined` when none was seen
 */
export const measureRollUp = async (cloud: BenchCloud, observer: Observer): Promise<Work | undefined> => {
  const { assembly } = observer;
  const lines = await observer.during(14, async () => {
    const id = await cloud.begin({ run: 'books', steps: STEPS, calls: 1 });
    // In the pause behind the first commit.
    while ((await cloud.api.execution(id)).seq < 2) await sleep(100);
    const mark = { [A.dueSk]: due.sk(Date.now() + 60_000, id) };
    await withRows(cloud, (rows) => rows.change(keys.execution(cloud.orgId, id), mark));
    await cloud.completed(id, 120);
  });
  const rollUps = invocationsOf(lines, functionOf(assembly, 'step').roleLogicalId).map(rollUpOf);
  const found = rollUps.find(({ length }) => length > 0);
  return found && { ...workOf(found, assembly), lambdaRequests: 0 };
};
