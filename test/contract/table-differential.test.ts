import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTable } from '../../lib/aws/table.ts';
import { ConditionFailed, type Table, TransactionRefused, type Value } from '../../lib/kernel/table.ts';
import { startDynamoDbTable, type TestTable } from '../support/dynamodb-table.ts';
import { makeMemoryTable } from '../support/memory-table.ts';
import { type Command, commands, judgements, queries } from './table-commands.ts';

/** What a caller can see of one call. Errors other than refusals differ in wording only. */
const outcome = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    return { answered: await work };
  } catch (error) {
    if (error instanceof ConditionFailed) return { refused: error.item };
    if (error instanceof TransactionRefused) return { refused: error.refused, items: error.items };
    return 'invalid';
  }
};

const run = (table: Table, command: Command): Promise<unknown> => {
  switch (command.call) {
    case 'put':
      return outcome(table.put(command.item, command.condition));
    case 'update':
      return outcome(table.update(command.key, command.changes, command.condition));
    case 'delete':
      return outcome(table.delete(command.key, command.condition));
    case 'get':
      return outcome(table.get(command.key, { consistent: true }));
    case 'getMany':
      return outcome(table.getMany(command.keys, { consistent: true }));
    case 'transact':
      return outcome(table.transact(command.writes, command.token));
    case 'query':
      return outcome(table.query(command.query));
  }
};

/** Every row of the partitions used, page by page, forwards, and the same once more from the indexes. */
const state = async (table: Table, scope: string): Promise<unknown> => {
  const seen: unknown[] = [];
  for (const query of queries(scope)) {
    let after: Value | undefined;
    do {
      const page = await table.query(after === undefined ? query : { ...query, after });
      seen.push(...page.items);
      after = page.next;
    } while (after !== undefined);
  }
  return seen;
};

describe('the table in memory and the table in DynamoDB', () => {
  let started: TestTable;
  let real: Table;
  let runs = 0;

  beforeAll(async () => {
    started = await startDynamoDbTable();
    real = makeTable(started);
  });
  afterAll(() => started.close());

  /** Plays each plan on both, in partitions of its own, and compares call by call, then the whole state. */
  const compare = (plans: fc.Arbitrary<(scope: string) => Command[]>): Promise<void> =>
    fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const scope = `${process.pid}-${Date.now()}-${runs++}`;
        const memory = makeMemoryTable();
        for (const command of plan(scope)) {
          expect(await run(memory, command), JSON.stringify(command)).toEqual(await run(real, command));
        }
        expect(await state(memory, scope)).toEqual(await state(real, scope));
      }),
      { numRuns: Number(process.env.DIFFERENTIAL_RUNS ?? 100) },
    );

  it('answer every sequence of calls alike and end in the same state', { timeout: 300_000 }, () => compare(commands));

  it('judge every guard alike', { timeout: 300_000 }, () => compare(judgements));
});
