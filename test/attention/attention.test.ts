import { beforeEach, describe, expect, test } from 'vitest';
import { attentionIdOf, closeAttention, type NewAttention, openAttention } from '../../lib/attention/attention.ts';
import { getAttention, listAttention } from '../../lib/attention/list.ts';
import { isId } from '../../lib/kernel/ids.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { executionIdOf, NOW, ORG } from '../execution/support.ts';
import { makeMemoryLog } from '../support/memory-log.ts';
import { makeMemoryTable } from '../support/memory-table.ts';
import { item } from './support.ts';

const OTHER = 'org_10000000000000000000000000';
let now = NOW;
let table = makeMemoryTable();
beforeEach(() => {
  now = NOW + 1_000_000;
  table = makeMemoryTable();
});
const deps = () => ({ table, log: makeMemoryLog(), clock: { now: () => now, sleep: async () => undefined } });
const open = (...items: readonly NewAttention[]) => table.transact(items.map(openAttention));
const list = async (filter = {}, page = { limit: 100 }) =>
  (await listAttention(deps(), ORG, filter, page)).items.map(({ question }) => question);

describe('an item', () => {
  test('has an id that its cause alone makes, and that sorts by time', () => {
    expect(isId('att', attentionIdOf(item(0)))).toBe(true);
    expect(attentionIdOf(item(0))).toBe(attentionIdOf(item(0, { question: 'Another.' })));
    const others = [
      item(1),
      item(0, { kind: 'budget' }),
      item(0, { orgId: OTHER }),
      item(0, { subject: { type: 'execution', id: executionIdOf(1) } }),
      item(0, { subject: { type: 'permission', id: executionIdOf(0) } }),
    ];
    expect(new Set([item(0), ...others].map(attentionIdOf)).size).toBe(6);
    expect(attentionIdOf(item(0)) < attentionIdOf(item(1))).toBe(true);
  });

  test('is opened and closed by writes that ask nothing of any row', async () => {
    for (const write of [openAttention(item(0)), closeAttention(item(0))]) expect('if' in write).toBe(false);
    await table.transact([closeAttention(item(0))]);
    await open(item(0));
    await open(item(0));
    expect(await list()).toHaveLength(1);
    await table.transact([closeAttention(item(0))]);
    expect(await list()).toEqual([]);
  });

  test('is read by its id, in its own organisation, until it is closed', async () => {
    await open(item(0));
    const id = attentionIdOf(item(0));
    expect(await getAttention(deps(), ORG, id)).toMatchObject({
      attentionId: id,
      since: NOW,
      actions: item(0).actions,
    });
    await expect(getAttention(deps(), OTHER, id)).rejects.toMatchObject({ status: 404 });
    await table.transact([closeAttention(item(0))]);
    await expect(getAttention(deps(), ORG, id)).rejects.toMatchObject({ status: 404 });
  });

  test('that is moot by itself is shown until then, whenever the table removes it', async () => {
    await open(item(0, { until: NOW + 5_000 }));
    now = NOW + 4_999;
    expect(await list()).toHaveLength(1);
    now = NOW + 5_000;
    expect(await list()).toEqual([]);
    await expect(getAttention(deps(), ORG, attentionIdOf(item(0)))).rejects.toMatchObject({ status: 404 });
  });
});

describe('the list', () => {
  test('is oldest first and read in pages to its end', async () => {
    await open(...[5, 1, 4, 2, 3].map((ms) => item(ms, { question: String(ms) })));
    const seen: string[] = [];
    let start: string | undefined;
    do {
      const page = await listAttention(deps(), ORG, {}, { limit: 2, start });
      seen.push(...page.items.map(({ question }) => question));
      start = page.next;
    } while (start !== undefined);
    expect(seen).toEqual(['1', '2', '3', '4', '5']);
  });

  test('is of one organisation', async () => {
    await open(item(0, { orgId: OTHER }));
    expect(await list()).toEqual([]);
  });

  test('is filtered by kind and by subject, that of a permission by its run too', async () => {
    const permission = { type: 'permission', id: 'ask_1' };
    await open(
      item(1, { question: 'error' }),
      item(2, { kind: 'permission', subject: permission, executionId: executionIdOf(0), question: 'permission' }),
      item(3, { kind: 'question', subject: { type: 'execution', id: executionIdOf(1) }, question: 'elsewhere' }),
    );
    expect(await list({ kind: 'permission' })).toEqual(['permission']);
    expect(await list({ subjectType: 'execution' })).toEqual(['error', 'elsewhere']);
    expect(await list({ subjectId: 'ask_1' })).toEqual(['permission']);
    expect(await list({ subjectId: executionIdOf(0) })).toEqual(['error', 'permission']);
    expect(await list({ kind: 'budget' })).toEqual([]);
  });

  test('shows what it can read', async () => {
    await open(item(1), item(2));
    await table.put({ ...keys.attention(ORG, attentionIdOf(item(3))), v: 2 });
    expect(await list()).toHaveLength(2);
  });

  test('refuses a cursor of another list', async () => {
    const page = { limit: 1, start: 'EXECUTION#x' };
    await expect(listAttention(deps(), ORG, {}, page)).rejects.toMatchObject({ code: 'invalid_cursor' });
  });
});
