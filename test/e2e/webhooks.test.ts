import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, type Json } from './support/api.ts';
import { closeServer, listen, readBody } from './support/http-server.ts';
import { finish, use } from './support/scripted-model.ts';
import { startWorld, type World } from './support/world.ts';

interface Told {
  readonly webhookId: string;
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly createdAt: string;
    readonly sequence: number;
    readonly data: { readonly [member: string]: unknown };
  };
  readonly headers: { readonly [name: string]: string };
  readonly text: string;
  readonly at: number;
  readonly status: number;
}

/** Status to answer with, or `hang`; with 3xx also where to. */
type Answer = (n: number) => { readonly status: number; readonly location?: string } | 'hang';

const startReceiver = async (answer: Answer) => {
  const told: Told[] = [];
  const server = createServer(async (request, response) => {
    const text = (await readBody(request)).toString('utf8');
    const headers = request.headers as { readonly [name: string]: string };
    const given = answer(told.length + 1);
    const status = given === 'hang' ? 0 : given.status;
    const event = JSON.parse(text) as Told['event'];
    told.push({ webhookId: headers['webhook-id'] ?? '', event, headers, text, at: Date.now(), status });
    if (given === 'hang') return;
    response.writeHead(status, given.location === undefined ? {} : { location: given.location }).end('noted');
  });
  const { host } = await listen(server);
  return { told, host, url: `http://${host}/hook`, close: () => closeServer(server) };
};
type Receiver = Awaited<ReturnType<typeof startReceiver>>;

let world: World;
let shaky: Receiver;
let moved: Receiver;
let secretive: Receiver;
let dead: Receiver;
let well: Receiver;
beforeAll(async () => {
  secretive = await startReceiver(() => ({ status: 200 }));
  shaky = await startReceiver((n) => ({ status: n <= 5 ? 503 : 200 }));
  moved = await startReceiver(() => ({ status: 307, location: secretive.url }));
  dead = await startReceiver(() => 'hang');
  well = await startReceiver(() => ({ status: 204 }));
  const hosts = [shaky, moved, dead, well].map(({ host }) => host);
  world = await startWorld({ EGRESS_ALLOW: hosts.join(',') });
});
afterAll(async () => {
  await world?.close();
  await Promise.all([secretive, shaky, moved, dead, well].map((receiver) => receiver?.close()));
});

interface Made extends Json {
  readonly secret: string;
}
const make = async (url: string, events = ['execution.status_changed']): Promise<Made> =>
  (await world.cloud.must('POST', '/v1/webhooks', { url, events })) as Made;
const remove = (id: string) => world.cloud.must('DELETE', `/v1/webhooks/${id}`);
const deliveries = async (id: string) =>
  (await world.cloud.must('GET', `/v1/webhooks/${id}/deliveries?limit=100`)).items as unknown as readonly {
    readonly id: string;
    readonly state: string;
    readonly attempts: number;
    readonly error?: string;
  }[];

let names = 0;
const runOnce = async (): Promise<Json> => {
  const model = `webhooks-${++names}`;
  world.model.script(model, () => finish('done'));
  const run = await world.cloud.run({ model });
  return world.cloud.until(run.id, 'COMPLETED', 30);
};

describe('webhooks', () => {
  test('a receiver that fails five times gets each event under one webhook-id, and the library verifies it', async () => {
    const { id, secret } = await make(shaky.url);
    const run = await runOnce();
    const good = () => shaky.told.filter(({ status }) => status === 200);
    await eventually('both events are taken', () => new Set(good().map(({ event }) => event.id)).size === 2, 120);
    expect(shaky.told.length).toBeGreaterThanOrEqual(7);
    const idsOf = new Map<string, Set<string>>();
    for (const { event, webhookId } of shaky.told) {
      idsOf.set(event.id, (idsOf.get(event.id) ?? new Set()).add(webhookId));
    }
    expect([...idsOf.values()].map((ids) => ids.size)).toEqual([1, 1]);
    for (const { text, headers, event } of shaky.told) expect(new Webhook(secret).verify(text, headers)).toEqual(event);
    const inOrder = good().toSorted((a, b) => a.event.sequence - b.event.sequence);
    expect(inOrder.map(({ event }) => event)).toMatchObject([
      { type: 'execution.status_changed', sequence: 1, data: { executionId: run.id, from: 'CREATED', to: 'RUNNING' } },
      { type: 'execution.status_changed', sequence: 2, data: { from: 'RUNNING', to: 'COMPLETED' } },
    ]);
    await eventually('both are listed', async () => (await deliveries(id)).every(({ state }) => state === 'delivered'));
    const before = shaky.told.length;
    const [newest] = await deliveries(id);
    // Sent once more on demand, with the new secret and the old one, under the old id.
    const rotated = (await world.cloud.must('POST', `/v1/webhooks/${id}/rotate-secret`, {})) as Made;
    await world.cloud.must('POST', `/v1/webhooks/${id}/deliveries/${newest?.id}/redeliver`, {});
    await eventually('it came once more', () => shaky.told.length > before);
    const again = shaky.told.at(-1);
    expect(again?.webhookId).toBe(newest?.id);
    for (const each of [secret, rotated.secret]) {
      expect(new Webhook(each).verify(again?.text ?? '', again?.headers ?? {})).toEqual(again?.event);
    }
    await remove(id);
  }, 180_000);

  test('a receiver that redirects to a private address leads nobody there', async () => {
    const refused = await world.cloud.call('POST', '/v1/webhooks', { url: secretive.url, events: ['question.asked'] });
    expect(refused.status).toBe(400);
    const { id } = await make(moved.url);
    await runOnce();
    await eventually('it was tried twice', () => moved.told.length >= 2, 40);
    expect(secretive.told).toEqual([]);
    expect((await deliveries(id)).some(({ error }) => error?.includes('Redirects are not followed'))).toBe(true);
    await remove(id);
  }, 90_000);

  test('a dead endpoint does not delay another one', async () => {
    const good = await make(well.url);
    const hear = async (): Promise<number> => {
      well.told.length = 0;
      const runs = await Promise.all(Array.from({ length: 8 }, runOnce));
      await eventually('everything is heard', () => well.told.length === 2 * runs.length, 60);
      return Math.max(...well.told.map(({ at, event }) => at - Date.parse(event.createdAt)));
    };
    const without = await hear();
    const hanging = await make(dead.url);
    const beside = await hear();
    // An attempt at the dead one takes ten seconds. Two workers at most are at it, whatever waits for it.
    expect(beside).toBeLessThan(without + 10_000);
    await eventually('the dead one was tried some times', () => dead.told.length >= 5, 60);
    const starts = dead.told.map(({ at }) => at).toSorted((a, b) => a - b);
    for (const [index, start] of starts.slice(2).entries()) {
      expect(start - (starts[index] ?? 0)).toBeGreaterThan(9_000);
    }
    await eventually('all is listed', async () =>
      (await deliveries(good.id)).every(({ state }) => state === 'delivered'),
    );
    expect((await deliveries(good.id)).map(({ attempts }) => attempts)).toEqual(Array(32).fill(1));
    await remove(hanging.id);
    await remove(good.id);
  }, 180_000);

  test('questions and permissions are told with their ids', async () => {
    const { id } = await make(well.url, ['question.asked', 'permission.requested']);
    const model = `webhooks-${++names}`;
    world.model.script(model, ({ n }) => (n === 1 ? use('ask_user', { question: 'Which way?' }) : finish('there')));
    const run = await world.cloud.run({ model });
    await world.cloud.until(run.id, 'WAITING_FOR_INPUT', 20);
    const mine = () =>
      well.told
        .filter(({ event }) => event.data.executionId === run.id && event.type !== 'execution.status_changed')
        .map(({ event }) => event);
    await eventually('the question is told', () => mine().length > 0);
    expect(mine()).toMatchObject([{ type: 'question.asked', sequence: 2, data: { question: 'Which way?' } }]);
    await world.cloud.must('POST', `/v1/executions/${run.id}/input`, { content: 'left' });
    await world.cloud.until(run.id, 'COMPLETED', 20);
    const asking = `webhooks-${++names}`;
    world.model.script(asking, ({ n }) =>
      n === 1 ? use('write_file', { path: 'a.txt', content: 'a' }) : finish('ok'),
    );
    const held = await world.cloud.run({
      model: asking,
      permissionType: 'RESTRICTED',
      permissionTools: ['write_file'],
    });
    await world.cloud.until(held.id, 'WAITING_FOR_PERMISSION', 20);
    const asked = () =>
      well.told
        .filter(({ event }) => event.data.executionId === held.id && event.type !== 'execution.status_changed')
        .map(({ event }) => event);
    await eventually('the permission is told', () => asked().length > 0);
    const pending = (await world.cloud.must('GET', '/v1/permissions?status=pending')).items;
    expect(asked()).toMatchObject([{ type: 'permission.requested', data: { permissionId: pending[0]?.id } }]);
    await remove(id);
  }, 90_000);
});
