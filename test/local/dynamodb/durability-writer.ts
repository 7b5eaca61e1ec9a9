import { createDynamoDb } from '../../../local/dynamodb/dynamodb.ts';
import { DEFINITION, TABLE as TableName } from './definition.ts';

/** The `n`th transaction: the counter goes from n - 1 to n, and item n appears with its index entry. */
export function transaction(n: number) {
  return {
    ClientRequestToken: `token-${n}`,
    TransactItems: [
      {
        Update: {
          TableName,
          Key: { pk: { S: 'counter' }, sk: { S: '1' } },
          UpdateExpression: 'ADD n :one',
          ExpressionAttributeValues: { ':one': { N: '1' } },
        },
      },
      {
        Put: {
          TableName,
          Item: { pk: { S: 'item' }, sk: { S: String(n) }, ownerPk: { S: 'o' }, ownerSk: { S: String(n) } },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
    ],
  };
}

/** A program of its own: writes until it is killed, telling each transaction after it was answered. */
async function main(file: string): Promise<void> {
  const db = createDynamoDb({ file, region: 'us-east-1', account: '000000000000' });
  db.createTableIfMissing(DEFINITION);
  const found = db.handle('GetItem', { TableName, Key: { pk: { S: 'counter' }, sk: { S: '1' } } }).body.Item;
  for (let n = Number((found as { n: { N: string } } | undefined)?.n.N ?? 0) + 1; ; n++) {
    const { status, body } = db.handle('TransactWriteItems', transaction(n));
    if (status !== 200) throw new Error(JSON.stringify(body));
    process.stdout.write(`${n}\n`);
    // Lets the pipe drain, so that what was answered is also told.
    await new Promise(setImmediate);
  }
}

const [, script, file] = process.argv;
if (script === import.meta.filename && file !== undefined) await main(file);
