import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createQueues } from '../../../local/services/queues/queues.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'queues-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Sends without end and says each id once the queue has answered. */
const SENDER = `
const { createQueues } = await import(process.argv[1]);
const queues = createQueues({ file: process.argv[2], urlOf: (name) => 'http://x/' + name });
await queues.handle('CreateQueue', { QueueName: 'work' });
const QueueUrl = 'http://x/work';
for (let i = 0; ; i++) {
  const { MessageId } = await queues.handle('SendMessage', { QueueUrl, MessageBody: 'n' + i });
  if (i % 3 === 0) await queues.handle('ReceiveMessage', { QueueUrl, VisibilityTimeout: 0 });
  process.stdout.write(MessageId + '\\n');
  await new Promise((resolve) => setImmediate(resolve));
}`;

it('every message that was acknowledged is there after kill -9', async () => {
  const file = join(folder, 'queues.sqlite');
  const module = new URL('../../../local/services/queues/queues.ts', import.meta.url).href;
  const sender = spawn(process.execPath, ['--input-type=module', '-e', SENDER, module, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const acknowledged: string[] = [];
  for await (const id of createInterface({ input: sender.stdout })) {
    acknowledged.push(id);
    if (acknowledged.length === 200) sender.kill('SIGKILL');
  }
  expect(acknowledged.length).toBeGreaterThanOrEqual(200);

  const queues = createQueues({ file, urlOf: (name) => `http://x/${name}` });
  const found = new Set<unknown>();
  for (;;) {
    const input = { QueueUrl: 'http://x/work', MaxNumberOfMessages: 10, VisibilityTimeout: 600 };
    const { Messages } = await queues.handle('ReceiveMessage', input);
    if (!Array.isArray(Messages)) break;
    for (const { MessageId } of Messages) found.add(MessageId);
  }
  queues.close();
  expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
});
