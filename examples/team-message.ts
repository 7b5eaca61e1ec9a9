/**
 * A program that speaks with the team: it signs a message, posts it to a source of kind `http`, follows what becomes of it,
 * and takes the reply. A chat's bridge or a form would stand in its place.
 *
 *   npx node examples/team-message.ts [PORT] [MESSAGE]
 *
 * The local cloud sends nothing to private addresses unless they are named: start it with EGRESS_ALLOW=127.0.0.1:4100. Without
 * BATON_URL and BATON_API_KEY it talks to the local cloud of `npm start` in this folder. The key needs the scope admin.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const url = process.env.BATON_URL ?? 'http://127.0.0.1:4000';
const key = process.env.BATON_API_KEY ?? readFileSync(`${process.env.BATON_HOME ?? '.baton'}/api-key`, 'utf8').trim();
const port = Number(process.argv[2] ?? 4100);
const text = process.argv[3] ?? 'How do we name branches?';

const call = async <Answer = object>(method: string, path: string, body?: object): Promise<Answer> => {
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
  return (response.status === 204 ? {} : await response.json()) as Answer;
};

const secret = randomBytes(20).toString('hex');
/** Both directions: `sha256=` and the HMAC of the bytes as they are sent. */
const signatureOf = (bytes: Uint8Array): string => `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`;

interface Reply {
  readonly type: 'reply' | 'edit' | 'ping';
  readonly id?: string;
  readonly thread?: string;
  readonly text?: string;
}

const replied = Promise.withResolvers<Reply>();
const server = createServer(async (request, response) => {
  const bytes = await buffer(request);
  const given = Buffer.from(String(request.headers['x-baton-signature']));
  const wanted = Buffer.from(signatureOf(bytes));
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return response.writeHead(401).end();
  const reply = JSON.parse(bytes.toString('utf8')) as Reply;
  // An answer can be lost: who keeps replies takes two with one `id` for one. An `edit` names the reply that it replaces.
  if (reply.type === 'reply') replied.resolve(reply);
  return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: reply.id }));
});
await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));

// The receiver's URL is public on AWS.
const source = await call<{ readonly id: string; readonly ingestUrl: string }>('POST', '/v1/sources', {
  kind: 'http',
  name: 'Example',
  secrets: [secret],
  replyUrl: `http://127.0.0.1:${port}/replies`,
});

interface Policy {
  readonly version: number;
  readonly allow: readonly object[];
  readonly admission: readonly object[];
}
// What was there stays; with its version, nobody's change in between is overwritten.
const before = await call<Policy>('GET', '/v1/policy');
const { version } = await call<Policy>('PUT', '/v1/policy', {
  ...before,
  allow: [...before.allow, { sourceId: source.id, actorId: 'ada', note: 'of an example' }],
  admission: [...before.admission, { sourceId: source.id, scope: 'message', ceiling: 'explicit' }],
});

const message = Buffer.from(
  JSON.stringify({ id: crypto.randomUUID(), thread: 'questions', actor: { id: 'ada', type: 'user' }, text }),
);
const answer = await fetch(source.ingestUrl, {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-baton-signature': signatureOf(message) },
  body: message,
});
console.log(`delivery: ${answer.status} ${await answer.text()}`);

interface Trigger {
  readonly id: string;
  readonly class: string;
  readonly decision?: { readonly decision: string; readonly reason: string; readonly ticketId?: string };
}
let trigger: Trigger | undefined;
while (trigger?.decision === undefined) {
  await sleep(300);
  [trigger] = (await call<{ readonly items: readonly Trigger[] }>('GET', `/v1/triggers?sourceId=${source.id}`)).items;
}
const { decision, reason, ticketId } = trigger.decision;
console.log(`trigger ${trigger.id} is ${trigger.class}; decision: ${decision} (${reason})`);

// A model may also answer without a ticket, or find that nobody has to do anything.
if (decision === 'accept' || decision === 'answer') {
  const { thread, text: said } = await replied.promise;
  console.log(`reply in ${thread}: ${said}`);
}
if (ticketId !== undefined) {
  const stop = await call<{ readonly phase: string; readonly title: string }>('POST', `/v1/tickets/${ticketId}/stop`);
  console.log(`ticket ${ticketId} (${stop.title}) is ${stop.phase}.`);
}
await call('PUT', '/v1/policy', { ...before, version });
await call('DELETE', `/v1/sources/${source.id}`);
server.close();
process.exitCode = decision === 'accept' || decision === 'answer' ? 0 : 1;
