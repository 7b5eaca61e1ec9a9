import { setTimeout as sleep } from 'node:timers/promises';
import { readExecution } from '../../../lib/execution/execution.ts';
import type { Item } from '../../../lib/kernel/table.ts';
import { operatorOf } from './operator.ts';
import { rowsOf } from './rows.ts';
import type { World } from './world.ts';

/** A process that is killed may be the API's own: then the caller asks again, as a caller does. */
export const patiently = async <T>(ask: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (attempt === 10) throw error;
      await sleep(50);
    }
  }
};

/** Nothing at all moves in a row for so long, and nobody holds it: what is left to the sweep by design. */
const STANDS_STILL_MS = 5_000;
export const ENDED = ['COMPLETED', 'ERROR_PAUSED', 'FAILED', 'BUDGET_EXCEEDED', 'ITERATION_LIMIT_EXCEEDED'];

/**
 * Waits until all runs have ended. Where one stands still, its mark is moved from some minutes ahead into the past and the
 * sweep is fired, as if those minutes had gone by.
 * @returns how often the sweep had to come
 */
export const settle = async (
  { cloud }: World,
  runs: readonly { readonly id: string }[],
  seconds: number,
): Promise<number> => {
  const operator = operatorOf(cloud);
  const rows = rowsOf(operator, (await patiently(() => cloud.must('GET', '/v1/organisation'))).id);
  const last = new Map<string, { readonly text: string; readonly at: number }>();
  const end = performance.now() + seconds * 1000;
  let sweeps = 0;
  try {
    for (;;) {
      const found = await Promise.all(runs.map(({ id }) => rows.execution(id)));
      const open = found.flatMap((row) => (row === undefined || ENDED.includes(String(row.st)) ? [] : [row]));
      if (open.length === 0) return sweeps;
      if (performance.now() > end) throw new Error(`Not ended after ${seconds} s: ${JSON.stringify(open)}`);
      for (const row of open) {
        const { executionId, leaseUntil = 0, duePk } = readExecution(row as Item);
        const text = JSON.stringify(row);
        if (last.get(executionId)?.text !== text) last.set(executionId, { text, at: performance.now() });
        const stoodMs = performance.now() - (last.get(executionId)?.at ?? 0);
        if (leaseUntil > Date.now() - STANDS_STILL_MS || stoodMs < STANDS_STILL_MS) continue;
        const dueSk = `${new Date(Date.now() - 60_000).toISOString()}#${executionId}`;
        await rows.change(row, { duePk, dueSk });
        await patiently(() => cloud.must('POST', '/_local/rules/sweep/fire'));
        sweeps++;
      }
      await sleep(200);
    }
  } finally {
    operator.close();
  }
};
