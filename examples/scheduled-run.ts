/**
 * A schedule that starts a run, and a server that is told how it went: it takes webhooks, verifies their signatures, and
 * leaves when the run has ended, or waits for a person. The run keeps to a workflow of its own.
 *
 *   npx node examples/scheduled-run.ts [PORT]
 *
 * The local cloud sends nothing to private addresses unless they are named: start it with EGRESS_ALLOW=127.0.0.1:4100. Without
 * BATON_URL and BATON_API_KEY it talks to the local cloud of `npm start` in this folder.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const url = process.env.BATON_URL ?? 'http://127.0.0.1:4000';
const key = process.env.BATON_API_KEY ?? readFileSync(`${process.env.BATON_HOME ?? '.baton'}/api-key`, 'utf8').trim();
const port = Number(process.argv[2] ?? 4100);

const call = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(method === 'POST' && { 'idempotency-key': crypto.randomUUID() }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.status === 204 ? {} : ((await response.json()) as Record<string, unknown>);
};

/** From any other status nothing goes on by itself. */
const GOES_ON = ['CREATED', 'RUNNING', 'WAIT_STEP'];

interface StatusChanged {
  readonly type: string;
  readonly data: { readonly agentId: string; readonly from: string; readonly to: string };
}

let secret = '';
let agentId = '';
const ended = Promise.withResolvers<string>();
const server = createServer(async (request, response) => {
  try {
    const body = await text(request);
    // Over the body as it came, before anything is parsed; an old or changed one throws.
    const event = new Webhook(secret).verify(body, request.headers as Record<string, string>) as StatusChanged;
    response.writeHead(204).end();
    if (event.data.agentId !== agentId) return;
    console.log(`${request.headers['webhook-id']}: ${event.data.from} -> ${event.data.to}`);
    if (!GOES_ON.includes(event.data.to)) ended.resolve(event.data.to);
  } catch (error) {
    console.error(`refused: ${error}`);
    response.writeHead(400).end();
  }
});
await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));

// Its receiver's URL is public on AWS.
const webhook = await call('POST', '/v1/webhooks', {
  url: `http://127.0.0.1:${port}/hooks`,
  events: ['execution.status_changed'],
});
secret = String(webhook.secret);
const agent = await call('POST', '/v1/agents', {
  name: 'Morning figures',
  workflow: 'fixed-task',
  config: {
    goals: ['Put the figures into files, add them up, and report.'],
    instructions: ['shore: crabs 7, gulls 9'],
  },
});
agentId = String(agent.id);
const schedule = await call('POST', '/v1/schedules', {
  agentId,
  startAt: new Date(Date.now() + 3_000).toISOString(),
});
console.log(`${schedule.id} is due at ${schedule.nextAt}`);

const end = await ended.promise;
await call('DELETE', `/v1/webhooks/${webhook.id}`);
server.close();
console.log(`The run is ${end}.`);
process.exitCode = end === 'COMPLETED' ? 0 : 1;
