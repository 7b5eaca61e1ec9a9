import { setTimeout as sleep } from 'node:timers/promises';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Cloud } from './cloud.ts';
import { operatorOf } from './operator.ts';
import { type Row, rowsOf, TABLE_NAME } from './rows.ts';
import { patiently } from './settle.ts';

/** Nothing at all moves in a row for so long: whoever held it is gone, and it is left to the clock by design. */
const STANDS_STILL_MS = 5_000;

const isAhead = (value: unknown): boolean => typeof value === 'number' && value > Date.now();

/**
 * Waits until something holds. Where a row that carries a mark stands still, its lease and its mark are moved from some
 * minutes ahead into the past and the clock is fired, as if those minutes had gone by.
 * @returns how often the clock had to come
 */
export const hurryUntil = async (
  { cloud }: { readonly cloud: Pick<Cloud, 'must' | 'local'> },
  holds: () => Promise<boolean>,
  seconds: number,
): Promise<number> => {
  const operator = operatorOf(cloud);
  const { change } = rowsOf(operator, '');
  const last = new Map<string, { readonly text: string; readonly at: number }>();
  const end = performance.now() + seconds * 1000;
  let fired = 0;
  try {
    while (!(await holds())) {
      const { Items = [] } = await patiently(() =>
        operator.table.send(new ScanCommand({ TableName: TABLE_NAME, ConsistentRead: true })),
      );
      const marked = (Items as Row[]).filter(({ dueSk }) => typeof dueSk === 'string');
      if (performance.now() > end) throw new Error(`Not after ${seconds} s: ${JSON.stringify(marked)}`);
      let moved = false;
      for (const row of marked) {
        const id = `${row.pk} ${row.sk}`;
        const text = JSON.stringify(row);
        if (last.get(id)?.text !== text) last.set(id, { text, at: performance.now() });
        if (performance.now() - (last.get(id)?.at ?? 0) < STANDS_STILL_MS) continue;
        const past = Date.now() - 1_000;
        await change(row, {
          dueSk: String(row.dueSk).replace(/^[^#]+/, new Date(past - 60_000).toISOString()),
          ...(isAhead(row.leaseUntil) && { leaseUntil: past }),
          ...(isAhead(row.notBefore) && { notBefore: past }),
        });
        moved = true;
      }
      if (moved) {
        for (const rule of ['sweep', 'tick']) await patiently(() => cloud.must('POST', `/_local/rules/${rule}/fire`));
        fired++;
      }
      await sleep(200);
    }
    return fired;
  } finally {
    operator.close();
  }
};
