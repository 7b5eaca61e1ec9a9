import type { KeyType } from '../values/values.ts';

/** A CreateTable request after validation; also what is stored of a table. */
export interface TableDefinition {
  readonly TableName: string;
  readonly AttributeDefinitions: readonly { readonly AttributeName: string; readonly AttributeType: KeyType }[];
  readonly KeySchema: readonly KeySchemaElement[];
  readonly GlobalSecondaryIndexes?: readonly IndexDefinition[];
  readonly BillingMode?: 'PROVISIONED' | 'PAY_PER_REQUEST';
  readonly ProvisionedThroughput?: { readonly ReadCapacityUnits: number; readonly WriteCapacityUnits: number };
}

interface KeySchemaElement {
  readonly AttributeName: string;
  readonly KeyType: 'HASH' | 'RANGE';
}

interface IndexDefinition {
  readonly IndexName: string;
  readonly KeySchema: readonly KeySchemaElement[];
  readonly Projection: {
    readonly ProjectionType: 'ALL' | 'KEYS_ONLY' | 'INCLUDE';
    readonly NonKeyAttributes?: readonly string[];
  };
}

export interface KeyAttribute {
  readonly name: string;
  readonly type: KeyType;
}

/** A primary key: one attribute (hash) or two (hash, range). */
export interface KeyPair {
  readonly hash: KeyAttribute;
  readonly range: KeyAttribute | undefined;
}

export interface Index extends KeyPair {
  readonly name: string;
  /** The attributes an entry carries; `undefined` means all of the item. */
  readonly projected: ReadonlySet<string> | undefined;
}

export interface TableSchema extends KeyPair {
  readonly id: number;
  readonly name: string;
  readonly definition: TableDefinition;
  readonly indexes: readonly Index[];
  readonly ttlAttribute: string | undefined;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

export const attributesOf = (key: KeyPair): readonly KeyAttribute[] =>
  key.range === undefined ? [key.hash] : [key.hash, key.range];

export function schemaOf(row: {
  readonly id: number;
  readonly definition: TableDefinition;
  readonly ttlAttribute: string | undefined;
  readonly createdAt: number;
}): TableSchema {
  const { definition } = row;
  const keys = keyPair(definition.KeySchema, definition);
  const tableKeys = attributesOf(keys).map((key) => key.name);
  const indexes = (definition.GlobalSecondaryIndexes ?? []).map((index): Index => {
    const pair = keyPair(index.KeySchema, definition);
    const names = attributesOf(pair).map((key) => key.name);
    const { ProjectionType, NonKeyAttributes = [] } = index.Projection;
    const projected = ProjectionType === 'ALL' ? undefined : new Set([...tableKeys, ...names, ...NonKeyAttributes]);
    return { name: index.IndexName, ...pair, projected };
  });
  return { ...row, ...keys, name: definition.TableName, indexes };
}

function keyPair(elements: readonly KeySchemaElement[], definition: TableDefinition): KeyPair {
  const [hash, range] = elements.map((element): KeyAttribute => {
    const name = element.AttributeName;
    const found = definition.AttributeDefinitions.find((attribute) => attribute.AttributeName === name);
    if (found === undefined) throw new Error(`Key attribute ${name} of ${definition.TableName} has no definition`);
    return { name, type: found.AttributeType };
  });
  if (hash === undefined) throw new Error(`Table ${definition.TableName} has an empty key schema`);
  return { hash, range };
}
