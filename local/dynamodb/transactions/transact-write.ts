import { type CancellationReason, DynamoDbError, transactionCanceled, validationError } from '../errors.ts';
import { consumedByTable, doubled, type ReturnConsumedCapacity, readUnits } from '../operations/capacity.ts';
import type { Operation } from '../operations/operation.ts';
import { carryOut, planWrite, type WritePlan, writeKey } from '../operations/write-plan.ts';
import { parseRequest } from '../requests.ts';
import type { RowKey } from '../store/keys.ts';
import type { TableSchema } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
import { MAX_TRANSACTION_BYTES } from '../values/item-size.ts';
import type { Attributes } from '../values/values.ts';
import { digestOf, isReplay, remember } from './idempotency.ts';
import { type Action, actionOf, WRITE_ACTIONS } from './transact-actions.ts';

const VALIDATION = {
  types: {
    ReturnConsumedCapacity: { type: 'String', enum: ['INDEXES', 'TOTAL', 'NONE'] },
    ReturnItemCollectionMetrics: { type: 'String', enum: ['SIZE', 'NONE'] },
    ClientRequestToken: { type: 'String', lengthGreaterThanOrEqual: 1, lengthLessThanOrEqual: 36 },
    TransactItems: WRITE_ACTIONS,
  },
};

interface TransactWrite {
  readonly TransactItems: readonly { readonly [name: string]: { [member: string]: unknown } }[];
  readonly ClientRequestToken?: string;
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
}

interface Target {
  readonly action: Action;
  readonly table: TableSchema;
}

/** All or nothing. A refusal names every action's reason; nothing of the transaction is then written. */
export const transactWriteItems: Operation = ({ store, now }, body) => {
  const request = parseRequest<TransactWrite>(body, VALIDATION);
  const { ClientRequestToken: token, ReturnConsumedCapacity: wanted } = request;
  // Parsing adds to the actions, so that the digest is taken before.
  const digest = token === undefined ? '' : digestOf(request.TransactItems);
  const targets = request.TransactItems.map(actionOf).map((action) => ({
    action,
    table: store.table(action.TableName),
  }));
  refuseDuplicates(targets);
  return store.sqlite.transaction(() => {
    if (token !== undefined && isReplay(store.sqlite, token, digest, now())) {
      return consumedByTable(wanted, readsOf(store, targets), 'ReadCapacityUnits');
    }
    const plans = planAll(store, targets);
    for (const plan of plans) carryOut(store, plan);
    if (token !== undefined) remember(store.sqlite, token, digest, now());
    const parts = plans.map((plan) => ({ table: plan.table.name, units: doubled(plan.units) }));
    return consumedByTable(wanted, parts, 'WriteCapacityUnits');
  });
};

/** A repeat of a transaction that was carried out costs the reading of its items. */
function readsOf(store: Store, targets: readonly Target[]) {
  return targets.map(({ action, table }) => {
    const size = store.getItem(table, writeKey(table, action))?.size ?? 0;
    return { table: table.name, units: { table: readUnits(size, 'transactional'), indexes: {} } };
  });
}

function refuseDuplicates(targets: readonly Target[]): void {
  const seen = new Set<string>();
  for (const { action, table } of targets) {
    const key = attempt(() => writeKey(table, action));
    // A key that does not fit the table is one of the reasons of a refusal, told with the others.
    if (key instanceof DynamoDbError) continue;
    const place = placeOf(table, key);
    if (seen.has(place)) throw validationError('Transaction request cannot include multiple operations on one item');
    seen.add(place);
  }
}

export const placeOf = (table: TableSchema, key: RowKey): string =>
  `${table.id}/${key.hash.toString('hex')}/${key.range.toString('hex')}`;

/** Reads every item and judges every condition before anything is written. */
function planAll(store: Store, targets: readonly Target[]): WritePlan[] {
  const outcomes = targets.map(({ action, table }) => attempt(() => planWrite(store, table, action)));
  const plans = outcomes.filter((outcome): outcome is WritePlan => !(outcome instanceof DynamoDbError));
  if (plans.length < targets.length) throw transactionCanceled(outcomes.map(reasonOf));
  const bytes = plans.reduce((sum, plan) => sum + Math.max(plan.before?.size ?? 0, plan.after?.size ?? 0), 0);
  if (bytes > MAX_TRANSACTION_BYTES) {
    throw validationError(
      `The items of a transaction may be ${MAX_TRANSACTION_BYTES} bytes in sum; these are ${bytes}`,
    );
  }
  return plans;
}

function attempt<T>(work: () => T): T | DynamoDbError {
  try {
    return work();
  } catch (error) {
    if (error instanceof DynamoDbError) return error;
    throw error;
  }
}

export function reasonOf(outcome: unknown): CancellationReason {
  if (!(outcome instanceof DynamoDbError)) return { Code: 'None' };
  const item = outcome.body.Item;
  return {
    Code: outcome.is('ConditionalCheckFailedException') ? 'ConditionalCheckFailed' : 'ValidationError',
    Message: outcome.message,
    ...(item === undefined ? {} : { Item: item as Attributes }),
  };
}
