import { expect, test } from 'vitest';
import { A } from '../../lib/execution/execution.ts';
import { listExecutions, readFeed } from '../../lib/execution/list.ts';
import { set, type Table } from '../../lib/kernel/table.ts';
import { makeMemoryLog } from '../support/memory-log.ts';
import { makeMemoryTable } from '../support/memory-table.ts';
import { AGENT, at, executionIdOf, ORG, putExecution, putMessage } from './support.ts';

/** What a function may answer at most. */
const SIX_MB = 6 * 1024 * 1024;
const answerBytes = (items: unknown): number => Buffer.byteLength(JSON.stringify(JSON.stringify(items)));

test('a feed of long messages comes in pages that an answer can carry, without losing a row', async () => {
  const table = makeMemoryTable();
  await putExecution(table, 0, [set(A.seq, 3), set(A.status, 'TERMINATED')]);
  // Quotes are the worst case: escaped in the body's JSON, and once more in the function's answer around it.
  for (let n = 0; n < 40; n++) await putMessage(table, 2, n, '"'.repeat(100_000));
  const seen: number[] = [];
  let after: { readonly seq: number; readonly n: number } | undefined;
  for (;;) {
    const page = await readFeed(table, at(), after, 1_000);
    expect(answerBytes(page.rows)).toBeLessThan(SIX_MB);
    seen.push(...page.rows.map(({ n }) => n));
    expect(page.ended).toBe(seen.length === 40);
    if (page.ended) break;
    after = page.rows.at(-1);
  }
  expect(seen).toEqual(Array.from({ length: 40 }, (_, n) => n));
});

test('the end of a feed is told when the last page is exactly full', async () => {
  const table = makeMemoryTable();
  await putExecution(table, 0, [set(A.seq, 3), set(A.status, 'TERMINATED')]);
  for (let n = 0; n < 4; n++) await putMessage(table, 2, n, 'hello');
  expect((await readFeed(table, at(), undefined, 3)).ended).toBe(false);
  expect((await readFeed(table, at(), undefined, 4)).ended).toBe(true);
});

test('executions with long results come in pages that an answer can carry', async () => {
  const table = makeMemoryTable();
  for (let n = 0; n < 120; n++) await putExecution(table, n, [set(A.result, '€'.repeat(16_000))]);
  for (const filter of [{}, { agentId: AGENT }]) {
    const seen: string[] = [];
    let start: string | undefined;
    do {
      const page = await listExecutions({ table, log: makeMemoryLog() }, ORG, filter, { limit: 1_000, start });
      expect(answerBytes(page.items)).toBeLessThan(SIX_MB);
      seen.push(...page.items.map(({ executionId }) => executionId));
      start = page.next;
    } while (start !== undefined);
    expect(seen).toEqual(Array.from({ length: 120 }, (_, n) => executionIdOf(119 - n)));
  }
});

test('a filter that lets little through does not read row by row, however short the page', async () => {
  const memory = makeMemoryTable();
  for (let n = 0; n < 300; n++) await putExecution(memory, n, n === 5 ? [set(A.status, 'FAILED')] : []);
  let reads = 0;
  const counted = new Set(['query', 'getMany']);
  const table: Table = new Proxy(memory, {
    get(target, name, self) {
      if (typeof name === 'string' && counted.has(name)) reads++;
      return Reflect.get(target, name, self);
    },
  });
  const filter = { agentId: AGENT, status: 'FAILED' as const };
  const page = await listExecutions({ table, log: makeMemoryLog() }, ORG, filter, { limit: 1 });
  expect(page.items.map(({ executionId }) => executionId)).toEqual([executionIdOf(5)]);
  expect(reads).toBeLessThan(12);
});
