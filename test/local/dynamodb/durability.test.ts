import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDynamoDb, type DynamoDb } from '../../../local/dynamodb/dynamodb.ts';
import { DEFINITION, TABLE } from './definition.ts';
import { transaction } from './durability-writer.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'baton-dynamodb-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const open = (file: string): DynamoDb => createDynamoDb({ file, region: 'us-east-1', account: '000000000000' });
const WRITER = fileURLToPath(new URL('./durability-writer.ts', import.meta.url));

/** Starts a process that writes as fast as it can, and kills it once it has told of `enough` commits. */
async function writeAndKill(file: string, enough: number): Promise<number> {
  const writer = spawn(process.execPath, [WRITER, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  let told = 0;
  const lines = createInterface({ input: writer.stdout });
  lines.on('line', (line) => {
    told = Math.max(told, Number(line));
    if (told >= enough) writer.kill('SIGKILL');
  });
  const [[, signal]] = await Promise.all([once(writer, 'exit'), once(lines, 'close')]);
  expect(signal).toBe('SIGKILL');
  return told;
}

test('kill -9 loses nothing that was answered, and leaves no half transaction', async () => {
  const file = join(home, 'table.db');
  let told = 0;
  for (let round = 1; round <= 3; round++) {
    told = await writeAndKill(file, told + 200);
    const db = open(file);
    const answer = (operation: string, body: object) => {
      const { status, body: result } = db.handle(operation, { TableName: TABLE, ...body });
      expect(status).toBe(200);
      return result;
    };
    const counter = answer('GetItem', { Key: { pk: { S: 'counter' }, sk: { S: '1' } } }).Item as { n: { N: string } };
    const committed = Number(counter.n.N);
    expect(committed).toBeGreaterThanOrEqual(told);
    // Each transaction raised the counter, put one item and so one index entry: all three or none.
    const count = (more: object, values: object) =>
      answer('Query', { Select: 'COUNT', ExpressionAttributeValues: values, ...more }).Count;
    expect(count({ KeyConditionExpression: 'pk = :p' }, { ':p': { S: 'item' } })).toBe(committed);
    expect(count({ IndexName: 'byOwner', KeyConditionExpression: 'ownerPk = :p' }, { ':p': { S: 'o' } })).toBe(
      committed,
    );
    // The token of the last transaction was committed with it.
    const replay = db.handle('TransactWriteItems', transaction(committed));
    expect(replay.status).toBe(200);
    expect(count({ KeyConditionExpression: 'pk = :p' }, { ':p': { S: 'item' } })).toBe(committed);
    db.close();
    told = committed;
  }
});

test('tables, time to live and items are there after closing and opening again', () => {
  const file = join(home, 'again.db');
  const first = open(file);
  first.createTableIfMissing(DEFINITION, 'ttl');
  first.handle('PutItem', { TableName: TABLE, Item: { pk: { S: 'a' }, sk: { S: '1' } } });
  first.close();
  const second = open(file);
  second.createTableIfMissing(DEFINITION, 'ttl');
  expect(second.handle('GetItem', { TableName: TABLE, Key: { pk: { S: 'a' }, sk: { S: '1' } } }).body).toEqual({
    Item: { pk: { S: 'a' }, sk: { S: '1' } },
  });
  expect(second.handle('DescribeTimeToLive', { TableName: TABLE }).body).toMatchObject({
    TimeToLiveDescription: { AttributeName: 'ttl' },
  });
  second.close();
});

test('a file of a newer version is refused and left alone', () => {
  const file = join(home, 'newer.db');
  open(file).close();
  const raw = new DatabaseSync(file);
  raw.exec('PRAGMA user_version = 99');
  raw.close();
  expect(() => open(file)).toThrow(/schema version 99; this program knows up to 1/);
});
