import { afterAll, beforeAll, describe } from 'vitest';
import { makeTable } from '../../lib/aws/table.ts';
import type { Table } from '../../lib/kernel/table.ts';
import { startDynamoDbTable, type TestTable } from '../support/dynamodb-table.ts';
import { itemContract } from './table.contract.ts';
import { conditionContract } from './table-conditions.contract.ts';
import { queryContract } from './table-query.contract.ts';
import { transactContract } from './table-transact.contract.ts';

describe('the table in DynamoDB, over the wire', () => {
  let started: TestTable;
  let table: Table;

  beforeAll(async () => {
    started = await startDynamoDbTable();
    table = makeTable(started);
  });
  afterAll(() => started.close());

  itemContract(() => table);
  conditionContract(() => table);
  queryContract(() => table);
  transactContract(() => table);
});
