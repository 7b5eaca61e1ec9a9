import { GetCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Operator } from './operator.ts';

export const TABLE_NAME = 'baton-dev';

export interface Row {
  readonly pk: string;
  readonly sk: string;
  readonly [attribute: string]: unknown;
}

/** The table as the person at the keyboard reaches it, to bring about what nothing brings about over HTTP. */
export interface Rows {
  execution(id: string): Promise<Row | undefined>;
  /** Sets attributes; `undefined` takes one away. */
  change(key: Row, attributes: { readonly [name: string]: unknown }): Promise<void>;
  changeExecution(id: string, attributes: { readonly [name: string]: unknown }): Promise<void>;
  /** What left, or is to leave, about an execution; oldest first. */
  effects(id: string): Promise<readonly Row[]>;
}

export const rowsOf = ({ table }: Operator, orgId: string): Rows => {
  const keyOf = (id: string) => ({ pk: `ORG#${orgId}#EXEC#${id}`, sk: 'EXEC' });
  const change: Rows['change'] = async ({ pk, sk }, attributes) => {
    const all = Object.entries(attributes).map(([name, value], index) => ({ name, value, index }));
    const set = all.filter(({ value }) => value !== undefined);
    const gone = all.filter(({ value }) => value === undefined);
    await table.send(
      new UpdateCommand({
        TableName: TABLE_NAME,
        Key: { pk, sk },
        UpdateExpression: [
          set.length === 0 ? '' : `SET ${set.map(({ index }) => `#n${index} = :v${index}`).join(', ')}`,
          gone.length === 0 ? '' : `REMOVE ${gone.map(({ index }) => `#n${index}`).join(', ')}`,
        ].join(' '),
        ExpressionAttributeNames: Object.fromEntries(all.map(({ name, index }) => [`#n${index}`, name])),
        ...(set.length > 0 && {
          ExpressionAttributeValues: Object.fromEntries(set.map(({ value, index }) => [`:v${index}`, value])),
        }),
      }),
    );
  };
  return {
    async execution(id) {
      const { Item } = await table.send(
        new GetCommand({ TableName: TABLE_NAME, Key: keyOf(id), ConsistentRead: true }),
      );
      return Item as Row | undefined;
    },
    change,
    changeExecution: (id, attributes) => change(keyOf(id), attributes),
    async effects(id) {
      const { Items = [] } = await table.send(new ScanCommand({ TableName: TABLE_NAME, ConsistentRead: true }));
      return (Items as Row[])
        .filter(({ sk, detail }) => sk === 'EFFECT' && String(detail).includes(id))
        .sort((a, b) => Number(a.at) - Number(b.at));
    },
  };
};
