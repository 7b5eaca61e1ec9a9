import { describe, expect, it } from 'vitest';
import type { Item } from '../../lib/kernel/table.ts';
import { listRows } from '../../lib/tenancy/list-rows.ts';
import { makeMemoryTable } from '../support/memory-table.ts';

const name = (i: number): string => `ROW#${String(i).padStart(5, '0')}`;

const filled = async (count: number) => {
  const table = makeMemoryTable();
  for (let i = 0; i < count; i++) {
    await table.put({ pk: 'P', sk: name(i), n: i, ownerPk: 'OWNER', ownerSk: name(i) });
  }
  await table.put({ pk: 'P', sk: 'A', n: -1 });
  await table.put({ pk: 'P', sk: 'Z', n: -2 });
  return table;
};

/** Every page until the end, at most 100 of them. */
const pagesOf = async (
  query: Parameters<typeof listRows<number>>[0],
  limit: number,
): Promise<(readonly number[])[]> => {
  const pages: (readonly number[])[] = [];
  let start: string | undefined;
  do {
    const page = await listRows(query, { limit, start });
    pages.push(page.items);
    start = page.next;
  } while (start !== undefined && pages.length < 100);
  return pages;
};

describe('listing', () => {
  it.each([1, 3, 7, 10, 11, 150])('shows every row once, newest first, by pages of %i', async (limit) => {
    const table = await filled(10);
    for (const where of [
      { pk: 'P', prefix: 'ROW#' },
      { pk: 'OWNER', index: 'byOwner' as const },
    ]) {
      const pages = await pagesOf({ table, ...where, read: (item) => Number(item.n) }, limit);
      expect(pages.flat()).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
      expect(pages).toHaveLength(Math.ceil(10 / limit));
    }
  });

  it('reads on when a page of the table is full before the list’s own is', async () => {
    const table = await filled(450);
    const [first, ...rest] = await pagesOf({ table, pk: 'P', prefix: 'ROW#', read: (item) => Number(item.n) }, 400);
    expect(first).toHaveLength(400);
    expect(rest.flat()).toHaveLength(50);
  });

  it('filters without losing or repeating a row, and cuts a page short that would read for ever', async () => {
    const table = await filled(4_500);
    const wanted = [4_400, 2_500, 2_499, 2_300, 0];
    const read = (item: Item) => (wanted.includes(Number(item.n)) ? Number(item.n) : undefined);
    const pages = await pagesOf({ table, pk: 'P', prefix: 'ROW#', read }, 100);
    expect(pages.flat()).toEqual(wanted);
    expect(pages).toHaveLength(3);
  });

  it('goes on when the row at the cursor is gone', async () => {
    const table = await filled(5);
    const query = { table, pk: 'P', prefix: 'ROW#', read: (item: Item) => Number(item.n) };
    const first = await listRows(query, { limit: 2 });
    await table.delete({ pk: 'P', sk: name(2) });
    expect((await listRows(query, { limit: 2, start: first.next })).items).toEqual([1, 0]);
  });

  it.each(['', 'META', 'ROW', `ROW#${'x'.repeat(1_024)}`])('refuses the position %j', async (start) => {
    const table = await filled(1);
    const listed = listRows({ table, pk: 'P', prefix: 'ROW#', read: () => 1 }, { limit: 1, start });
    await expect(listed).rejects.toMatchObject({ status: 400, code: 'invalid_cursor' });
  });
});
