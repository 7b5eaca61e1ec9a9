/** What waits for a person: opened and closed with its cause, every action good as it is given; permissions that expire. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, type Json } from './support/api.ts';
import { type Operator, operatorOf } from './support/operator.ts';
import { type Rows, rowsOf } from './support/rows.ts';
import { finish, type Script, use } from './support/scripted-model.ts';
import { startWorld, type World } from './support/world.ts';

interface Action {
  readonly label: string;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}
interface Item {
  readonly id: string;
  readonly kind: string;
  readonly subject: { readonly type: string; readonly id: string };
  readonly question: string;
  readonly url: string;
  readonly since: string;
  readonly actions: readonly Action[];
}

let world: World;
let operator: Operator;
let orgId = '';
let rows: Rows;
beforeAll(async () => {
  world = await startWorld();
  operator = operatorOf(world.cloud);
  orgId = (await world.cloud.must('GET', '/v1/organisation')).id;
  rows = rowsOf(operator, orgId);
});
afterAll(async () => {
  operator?.close();
  await world?.close();
});

let names = 0;
const run = (reply: Script, config = {}): Promise<Json> => {
  const model = `attention-${++names}`;
  world.model.script(model, reply);
  return world.cloud.run({ model, ...config });
};

const listed = async (query: string): Promise<readonly Item[]> =>
  (await world.cloud.must('GET', `/v1/attention?${query}`)).items as unknown as readonly Item[];
/** The one item of a run; it is there as soon as the run shows its status. */
const itemOf = async (id: string): Promise<Item> => {
  const [item, ...more] = await listed(`subjectId=${id}`);
  if (item === undefined || more.length > 0) throw new Error(`${id} has ${more.length} items too many, or none`);
  return item;
};
const take = ({ method, path, body }: Action) => world.cloud.call(method, path, body);

const KINDS: readonly {
  readonly kind: string;
  readonly status: string;
  readonly start: () => Promise<Json>;
  /** Labels of the actions, one way of settling it each; those of a way are taken one after the other. */
  readonly ways: readonly (readonly RegExp[])[];
}[] = [
  {
    kind: 'permission',
    status: 'WAITING_FOR_PERMISSION',
    start: () =>
      run(({ n }) => (n === 1 ? use('write_file', { path: 'a.txt', content: 'x' }) : finish('done')), {
        permissionType: 'RESTRICTED',
      }),
    ways: [[/^Approve$/], [/^Reject$/]],
  },
  {
    kind: 'question',
    status: 'WAITING_FOR_INPUT',
    start: () => run(({ n }) => (n === 1 ? use('ask_user', { question: 'Which one?' }) : finish('done'))),
    ways: [[/^Leave it/], [/^Terminate$/]],
  },
  {
    kind: 'error',
    status: 'ERROR_PAUSED',
    start: () => run(({ n }) => (n < 3 ? use('think', { thought: 'again' }) : finish('done')), { repeatLimit: 2 }),
    ways: [[/^Resume$/], [/^Terminate$/]],
  },
  {
    kind: 'iteration_limit',
    status: 'ITERATION_LIMIT_EXCEEDED',
    start: () => run(({ n }) => (n < 2 ? use('think', { thought: `${n}` }) : finish('done')), { maxIterations: 1 }),
    ways: [[/^Raise maxIterations to 2$/, /^Resume$/], [/^Terminate$/]],
  },
  {
    kind: 'budget',
    status: 'BUDGET_EXCEEDED',
    start: () => run(({ n }) => (n < 2 ? use('think', { thought: `${n}` }) : finish('done')), { maxTokens: 1 }),
    ways: [[/^Raise maxTokens to \d+$/, /^Resume$/], [/^Terminate$/]],
  },
];

describe.each(KINDS)('an item of kind $kind', ({ kind, status, start, ways }) => {
  test.each(ways.map((way) => [way.map(String).join(', '), way] as const))(
    'is there with its cause, is settled by %s as given, and gone then',
    async (_, way) => {
      const { id } = await start();
      await world.cloud.until(id, status, 20);
      const item = await itemOf(id);
      expect(item).toMatchObject({ id: expect.stringMatching(/^att_/), kind, question: expect.stringMatching(/./) });
      expect(item.since <= new Date().toISOString()).toBe(true);
      expect(await world.cloud.must('GET', `/v1/attention/${item.id}`)).toEqual(item);
      expect((await world.cloud.call('GET', item.url)).status).toBe(200);
      expect(item.actions.some(({ label }) => way[0]?.test(label))).toBe(true);
      for (const wanted of way) {
        const action = item.actions.find(({ label }) => wanted.test(label));
        if (action === undefined) throw new Error(`No ${wanted} among ${item.actions.map(({ label }) => label)}`);
        const answer = await take(action);
        expect([action.label, answer.status < 300, answer.text]).toEqual([action.label, true, answer.text]);
      }
      expect((await world.cloud.call('GET', `/v1/attention/${item.id}`)).status).toBe(404);
      await world.cloud.until(id, ['COMPLETED', 'TERMINATED'], 20);
      expect(await listed(`subjectId=${id}`)).toEqual([]);
    },
  );
});

test('the list is oldest first, and empty for what a deleted agent left behind', async () => {
  const asking = () => run(({ n }) => (n === 1 ? use('ask_user', { question: 'Which?' }) : finish('done')));
  const one = await asking();
  await world.cloud.until(one.id, 'WAITING_FOR_INPUT', 20);
  const two = await asking();
  await world.cloud.until(two.id, 'WAITING_FOR_INPUT', 20);
  const subjects = (await listed('kind=question')).map(({ subject }) => subject.id);
  expect(subjects.filter((id) => id === one.id || id === two.id)).toEqual([one.id, two.id]);
  for (const { agentId } of [one, two]) await world.cloud.must('DELETE', `/v1/agents/${agentId}`);
  expect(await listed('kind=question')).toEqual([]);
});

describe('a permission that nobody decides in time', () => {
  const asking = async (permissionExpiry: string): Promise<{ readonly id: string; readonly ask: Json }> => {
    const { id } = await run(
      ({ n, messages }) =>
        n === 1 ? use('write_file', { path: 'a.txt', content: 'x' }) : finish(String(messages.at(-1)?.content)),
      { permissionType: 'RESTRICTED', permissionTtlSeconds: 60, permissionExpiry },
    );
    await world.cloud.until(id, 'WAITING_FOR_PERMISSION', 20);
    const [ask] = (await world.cloud.must('GET', `/v1/permissions?executionId=${id}`)).items;
    if (ask === undefined) throw new Error('It asks nothing.');
    return { id, ask };
  };
  /** As if the minute were over. */
  const expire = async (executionId: string): Promise<void> => {
    const key = { pk: `ORG#${orgId}#EXEC#${executionId}`, sk: 'ASK#000000001#0101' };
    const then = Date.now() - 1_000;
    await rows.change(key, { expiresAt: then, dueSk: `${new Date(then).toISOString()}#${executionId}` });
    await world.cloud.must('POST', '/_local/rules/tick/fire');
  };

  test('is rejected by the system, and the model is told', async () => {
    const { id, ask } = await asking('reject');
    const { expiresAt, createdAt } = ask as unknown as { expiresAt: string; createdAt: string };
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(60_000);
    await expire(id);
    const end = await world.cloud.until(id, 'COMPLETED', 20);
    expect(end.result).toMatch(/Nobody decided in time/);
    expect((await world.cloud.call('GET', `/v1/executions/${id}/files/a.txt`)).status).toBe(404);
    const after = await world.cloud.must('GET', `/v1/permissions/${ask.id}`);
    expect(after).toMatchObject({ status: 'expired', decidedBy: 'system' });
    expect((await world.cloud.call('POST', `/v1/permissions/${ask.id}/decision`, { decision: 'approve' })).status).toBe(
      409,
    );
  });

  test('or pauses its run, which a decision lets go on', async () => {
    const { id, ask } = await asking('pause');
    await expire(id);
    expect(await world.cloud.until(id, 'PAUSED', 20)).toMatchObject({ reason: 'permission_expired' });
    const item = await itemOf(id);
    const approve = item.actions.find(({ label }) => label === 'Approve');
    if (approve === undefined) throw new Error('It cannot be approved any more.');
    expect((await take(approve)).json).toMatchObject({ id: ask.id, status: 'approved' });
    await world.cloud.until(id, 'COMPLETED', 20);
    expect((await world.cloud.call('GET', `/v1/executions/${id}/files/a.txt`)).text).toBe('x');
  });
});

test('a row that somebody changed allows nothing: the call is shown again as it is', async () => {
  const { id } = await run(
    ({ n }) => (n === 1 ? use('write_file', { path: 'a.txt', content: 'bad' }) : finish('done')),
    { permissionType: 'RESTRICTED' },
  );
  await world.cloud.until(id, 'WAITING_FOR_PERMISSION', 20);
  const key = { pk: `ORG#${orgId}#EXEC#${id}`, sk: 'ASK#000000001#0101' };
  await rows.change(key, { arguments: '{"path":"a.txt","content":"good"}' });
  const [ask] = (await world.cloud.must('GET', `/v1/permissions?executionId=${id}`)).items;
  await world.cloud.must('POST', `/v1/permissions/${ask?.id}/decision`, { decision: 'approve' });
  await eventually('it is asked again', async () => {
    const again = await world.cloud.must('GET', `/v1/permissions/${ask?.id}`);
    return again.status === 'pending' && JSON.stringify(again).includes('"content":"bad"');
  });
  expect((await world.cloud.call('GET', `/v1/executions/${id}/files/a.txt`)).status).toBe(404);
  await world.cloud.must('POST', `/v1/executions/${id}/terminate`);
});
