import { validations } from '../dynalite.ts';
import { tableInUse, tableNotFound, validationError } from '../errors.ts';
import { isRecord, parseRequest } from '../requests.ts';
import type { TableDefinition, TableSchema } from '../store/schema.ts';
import type { Context, Operation } from './operation.ts';

/** Tables are there at once: no CREATING or DELETING. */
export const createTable: Operation = (context, body) => {
  const definition = definitionOf(body);
  if (context.store.find(definition.TableName) !== undefined) throw tableInUse(definition.TableName);
  const table = context.store.alter(() => context.store.addTable(definition, context.now()));
  return { TableDescription: describe(context, table) };
};

/** A CreateTable request as it is stored. @throws ValidationException */
export function definitionOf(body: unknown): TableDefinition {
  if (isRecord(body) && body.LocalSecondaryIndexes !== undefined) {
    throw validationError('The local DynamoDB has no local secondary indexes; use a global one.');
  }
  return parseRequest<TableDefinition>(body, validations.createTable);
}

interface TableRequest {
  readonly TableName: string;
}

export const describeTable: Operation = (context, body) => {
  const { TableName } = parseRequest<TableRequest>(body, validations.describeTable);
  return { Table: describe(context, found(context, TableName)) };
};

export const deleteTable: Operation = (context, body) => {
  const { TableName } = parseRequest<TableRequest>(body, validations.deleteTable);
  const table = found(context, TableName);
  const TableDescription = { ...describe(context, table), TableStatus: 'DELETING' };
  context.store.alter(() => context.store.dropTable(table));
  return { TableDescription };
};

export const listTables: Operation = ({ store }, body) => {
  const request = parseRequest<{ Limit?: number; ExclusiveStartTableName?: string }>(body, validations.listTables);
  const { Limit = 100, ExclusiveStartTableName: after } = request;
  const names = store
    .tables()
    .map((table) => table.name)
    .filter((name) => after === undefined || name > after);
  const page = names.slice(0, Limit);
  return { TableNames: page, ...(names.length > Limit ? { LastEvaluatedTableName: page.at(-1) } : {}) };
};

export const describeTimeToLive: Operation = (context, body) => {
  const { TableName } = parseRequest<TableRequest>(body, validations.describeTable);
  const { ttlAttribute } = found(context, TableName);
  return {
    TimeToLiveDescription:
      ttlAttribute === undefined
        ? { TimeToLiveStatus: 'DISABLED' }
        : { TimeToLiveStatus: 'ENABLED', AttributeName: ttlAttribute },
  };
};

const TTL_VALIDATION = {
  types: {
    TableName: validations.describeTable.types.TableName,
    TimeToLiveSpecification: {
      type: 'FieldStruct<TimeToLiveSpecification>',
      notNull: true,
      children: {
        Enabled: { type: 'Boolean', notNull: true },
        AttributeName: { type: 'String', notNull: true, lengthGreaterThanOrEqual: 1, lengthLessThanOrEqual: 255 },
      },
    },
  },
};

export const updateTimeToLive: Operation = (context, body) => {
  const request = parseRequest<{
    TableName: string;
    TimeToLiveSpecification: { Enabled: boolean; AttributeName: string };
  }>(body, TTL_VALIDATION);
  const { TimeToLiveSpecification: wanted } = request;
  const table = found(context, request.TableName);
  if (wanted.Enabled === (table.ttlAttribute !== undefined)) {
    throw validationError(`TimeToLive is already ${wanted.Enabled ? 'enabled' : 'disabled'}`);
  }
  if (!wanted.Enabled && wanted.AttributeName !== table.ttlAttribute) {
    throw validationError(
      `TimeToLive is active on a different AttributeName: current AttributeName is ${table.ttlAttribute}`,
    );
  }
  context.store.alter(() => context.store.setTtl(table, wanted.Enabled ? wanted.AttributeName : undefined));
  return { TimeToLiveSpecification: wanted };
};

function found({ store }: Context, name: string): TableSchema {
  const table = store.find(name);
  if (table === undefined) throw tableNotFound(name, true);
  return table;
}

function describe({ store, region, account }: Context, table: TableSchema): { [member: string]: unknown } {
  const { definition, createdAt } = table;
  const arn = `arn:aws:dynamodb:${region}:${account}:table/${table.name}`;
  const { items, bytes } = store.count(table);
  const throughput = definition.ProvisionedThroughput ?? { ReadCapacityUnits: 0, WriteCapacityUnits: 0 };
  return {
    TableName: table.name,
    TableArn: arn,
    TableStatus: 'ACTIVE',
    CreationDateTime: createdAt / 1000,
    AttributeDefinitions: definition.AttributeDefinitions,
    KeySchema: definition.KeySchema,
    ItemCount: items,
    TableSizeBytes: bytes,
    ProvisionedThroughput: { ...throughput, NumberOfDecreasesToday: 0 },
    ...(definition.BillingMode === 'PAY_PER_REQUEST' ? { BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' } } : {}),
    ...(table.indexes.length === 0
      ? {}
      : {
          GlobalSecondaryIndexes: table.indexes.map((index) => {
            const counted = store.count(table, index);
            const own = definition.GlobalSecondaryIndexes?.find((each) => each.IndexName === index.name);
            return {
              IndexName: index.name,
              IndexArn: `${arn}/index/${index.name}`,
              IndexStatus: 'ACTIVE',
              KeySchema: own?.KeySchema,
              Projection: own?.Projection,
              ItemCount: counted.items,
              IndexSizeBytes: counted.bytes,
            };
          }),
        }),
  };
}
