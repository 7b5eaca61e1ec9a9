import { type Parsed, validations } from '../dynalite.ts';
import { validationError } from '../errors.ts';
import { project } from '../expressions/projection.ts';
import { parseRequest } from '../requests.ts';
import { checkKey, rowKeyOf } from '../store/keys.ts';
import { MAX_BATCH_READ_BYTES } from '../values/item-size.ts';
import type { Attributes } from '../values/values.ts';
import { consumedByTable, type ReturnConsumedCapacity, readUnits, type Units } from './capacity.ts';
import type { Operation } from './operation.ts';
import { carryOut, planWrite, type WriteRequest, writeKey } from './write-plan.ts';

interface BatchGetItem {
  readonly RequestItems: {
    readonly [table: string]: Pick<Parsed, '_projection'> & {
      readonly Keys: readonly Attributes[];
      readonly ConsistentRead?: boolean;
    };
  };
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
}

/** Items beyond 16 MB come back as unprocessed keys. */
export const batchGetItem: Operation = ({ store }, body) => {
  const request = parseRequest<BatchGetItem>(body, validations.batchGetItem);
  const responses: { [table: string]: Attributes[] } = {};
  const unprocessed: { [table: string]: { [member: string]: unknown; Keys: Attributes[] } } = {};
  const parts: { table: string; units: Units }[] = [];
  let bytes = 0;
  for (const [name, wanted] of Object.entries(request.RequestItems)) {
    const table = store.table(name);
    const asked = (body as BatchGetItem).RequestItems[name];
    for (const key of wanted.Keys) checkKey(key, table);
    const items: Attributes[] = [];
    responses[name] = items;
    for (const key of wanted.Keys) {
      const found = store.getItem(table, rowKeyOf(key, table));
      if (bytes + (found?.size ?? 0) > MAX_BATCH_READ_BYTES) {
        unprocessed[name] ??= { ...asked, Keys: [] };
        unprocessed[name].Keys.push(key);
        continue;
      }
      bytes += found?.size ?? 0;
      const units = readUnits(found?.size ?? 0, wanted.ConsistentRead === true ? 'consistent' : 'eventual');
      parts.push({ table: name, units: { table: units, indexes: {} } });
      if (found) items.push(wanted._projection ? project(found.item, wanted._projection.paths) : found.item);
    }
  }
  return {
    Responses: responses,
    UnprocessedKeys: unprocessed,
    ...consumedByTable(request.ReturnConsumedCapacity, parts),
  };
};

interface BatchWriteItem {
  readonly RequestItems: {
    readonly [table: string]: readonly {
      readonly PutRequest?: { readonly Item: Attributes };
      readonly DeleteRequest?: { readonly Key: Attributes };
    }[];
  };
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
}

const MAX_BATCH_WRITES = 25;

export const batchWriteItem: Operation = ({ store }, body) => {
  const request = parseRequest<BatchWriteItem>(body, validations.batchWriteItem);
  if (Object.values(request.RequestItems).flat().length > MAX_BATCH_WRITES) {
    throw validationError('Too many items requested for the BatchWriteItem call');
  }
  const writes = Object.entries(request.RequestItems).flatMap(([name, actions]) => {
    const table = store.table(name);
    const seen = new Set<string>();
    return actions.map(({ PutRequest, DeleteRequest }) => {
      if ((PutRequest === undefined) === (DeleteRequest === undefined)) {
        throw validationError('Each write of a batch is either a PutRequest or a DeleteRequest.');
      }
      const write: WriteRequest = PutRequest
        ? { kind: 'put', Item: PutRequest.Item }
        : { kind: 'delete', Key: DeleteRequest?.Key ?? {} };
      const { hash, range } = writeKey(table, write);
      const place = `${hash.toString('hex')}/${range.toString('hex')}`;
      if (seen.has(place)) throw validationError('Provided list of item keys contains duplicates');
      seen.add(place);
      return { table, write };
    });
  });
  const plans = store.sqlite.transaction(() => {
    const planned = writes.map(({ table, write }) => planWrite(store, table, write));
    for (const plan of planned) carryOut(store, plan);
    return planned;
  });
  const parts = plans.map((plan) => ({ table: plan.table.name, units: plan.units }));
  return { UnprocessedItems: {}, ...consumedByTable(request.ReturnConsumedCapacity, parts) };
};
