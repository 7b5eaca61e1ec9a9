import { describe, expect, it } from 'vitest';
import { add } from '../../lib/kernel/table.ts';
import { makeMemoryTable } from '../support/memory-table.ts';
import { itemContract } from './table.contract.ts';
import { conditionContract } from './table-conditions.contract.ts';
import { queryContract } from './table-query.contract.ts';
import { transactContract } from './table-transact.contract.ts';

describe('the table in memory', () => {
  const table = makeMemoryTable();
  itemContract(() => table);
  conditionContract(() => table);
  queryContract(() => table);
  transactContract(() => table);

  it('forgets a token after ten minutes, as DynamoDB does', async () => {
    let now = 0;
    const own = makeMemoryTable(() => now);
    const key = { pk: 'ORG#o', sk: 'A' };
    await own.transact([{ update: key, changes: [add('n', 1)] }], 'token');
    now = 10 * 60_000;
    await own.transact([{ update: key, changes: [add('n', 1)] }], 'token');
    expect(own.dump()).toEqual([{ ...key, n: 1 }]);
    now += 1;
    await own.transact([{ update: key, changes: [add('n', 1)] }], 'token');
    expect(own.dump()).toEqual([{ ...key, n: 2 }]);
  });
});
