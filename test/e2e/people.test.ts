import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, type Json } from './support/api.ts';
import { finish, type Script, use } from './support/scripted-model.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.close());

let names = 0;
const script = (reply: Script) => {
  const model = `people-${++names}`;
  return { model, heard: world.model.script(model, reply) };
};
const input = (id: string, content: string, headers = {}) =>
  world.cloud.call('POST', `/v1/executions/${id}/input`, { content }, { headers });
const lastOf = (messages: readonly { readonly role: string; readonly content: string | null }[]) => messages.at(-1);

describe('questions', () => {
  test('ask_user waits; the answer is that call’s outcome, and the run goes on with it', async () => {
    const { model, heard } = script(({ n, messages }) =>
      n === 1 ? use('ask_user', { question: 'Which region?' }) : finish(`chosen: ${lastOf(messages)?.content}`),
    );
    const { id } = await world.cloud.run({ model });
    const waiting = await world.cloud.until(id, 'WAITING_FOR_INPUT', 20);
    expect(waiting.now).toMatchObject({ state: 'waiting', waitingOn: { kind: 'input' } });
    await sleep(300);
    expect(heard.calls).toHaveLength(1);
    expect((await input(id, 'north')).status).toBeLessThan(300);
    expect(await world.cloud.until(id, 'COMPLETED', 20)).toMatchObject({ result: 'chosen: north', calls: 2 });
    const tool = heard.calls[1]?.messages.filter(({ role }) => role === 'tool');
    expect(tool).toMatchObject([{ content: 'north' }]);
    // It is not told a second time.
    expect(heard.calls[1]?.messages.filter(({ content }) => content?.includes('north'))).toHaveLength(1);
  });

  test('a question beside other calls: those run once, and all are answered in order', async () => {
    const { model, heard } = script(({ n }) =>
      n === 1
        ? {
            calls: [
              { name: 'append_file', args: { path: 'log.txt', content: 'once\n' } },
              { name: 'ask_user', args: { question: 'First?' } },
              { name: 'ask_user', args: { question: 'Second?' } },
              { name: 'think', args: { thought: 'after' } },
            ],
          }
        : finish('done'),
    );
    const { id } = await world.cloud.run({ model });
    await world.cloud.until(id, 'WAITING_FOR_INPUT', 20);
    await input(id, 'one');
    // The answer has made it RUNNING, so this is the second question.
    await world.cloud.until(id, 'WAITING_FOR_INPUT', 20);
    await input(id, 'two');
    await world.cloud.until(id, 'COMPLETED', 20);
    const tools = heard.calls[1]?.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    expect(tools?.slice(1, 3)).toEqual(['one', 'two']);
    expect(tools).toHaveLength(4);
    expect((await world.cloud.call('GET', `/v1/executions/${id}/files/log.txt`)).text).toBe('once\n');
  });

  test('paused while it waits: the answer does not start it, resume does', async () => {
    const { model, heard } = script(({ n }) => (n === 1 ? use('ask_user', { question: 'Go?' }) : finish('gone')));
    const { id } = await world.cloud.run({ model });
    await world.cloud.until(id, 'WAITING_FOR_INPUT', 20);
    await world.cloud.must('POST', `/v1/executions/${id}/pause`);
    expect((await input(id, 'yes')).status).toBeLessThan(300);
    await sleep(300);
    expect(heard.calls).toHaveLength(1);
    expect((await world.cloud.must('POST', `/v1/executions/${id}/resume`)).status).toBe('RUNNING');
    expect(await world.cloud.until(id, 'COMPLETED', 20)).toMatchObject({ result: 'gone' });
  });
});

describe('input', () => {
  test('during a run it is read by the next step, once', async () => {
    const { model, heard } = script(({ n, messages }) => {
      const told = messages.some(({ role, content }) => role === 'user' && content === 'hurry up');
      if (told && n > 4) return finish('hurried');
      return { ...use('think', { thought: `thought ${n}` }), waitMs: 100 };
    });
    const { id } = await world.cloud.run({ model, maxIterations: 100 });
    await eventually('two calls', () => heard.calls.length >= 2);
    const before = heard.calls.length;
    const key = { 'idempotency-key': 'hurry-1' };
    const answers = [await input(id, 'hurry up', key), await input(id, 'hurry up', key)];
    expect(answers.map(({ status }) => status < 300)).toEqual([true, true]);
    expect(await world.cloud.until(id, 'COMPLETED', 20)).toMatchObject({ result: 'hurried' });
    const first = heard.calls.findIndex(({ messages }) => messages.some(({ content }) => content === 'hurry up'));
    expect(first).toBeLessThanOrEqual(before + 1);
    const last = heard.calls.at(-1)?.messages ?? [];
    expect(last.filter(({ content }) => content === 'hurry up')).toHaveLength(1);
  });

  test.each(['finish', 'plain text'])(
    'that arrives while the last call is under way (%s) is answered before the run ends',
    async (how) => {
      const { model, heard } = script(({ n, messages }) => {
        if (n > 1) return finish(`answered: ${messages.filter(({ role }) => role === 'user').at(-1)?.content}`);
        return { ...(how === 'finish' ? finish('too early') : { text: 'too early' }), waitMs: 800 };
      });
      const { id } = await world.cloud.run({ model });
      await eventually('it thinks', () => heard.calls.length === 1);
      expect((await input(id, 'one more thing')).status).toBeLessThan(300);
      const end = await world.cloud.until(id, 'COMPLETED', 20);
      expect(end).toMatchObject({ calls: 2, result: 'answered: one more thing' });
    },
  );
});

describe('permissions', () => {
  const decide = (id: string, decision: string, feedback?: string) =>
    world.cloud.call('POST', `/v1/permissions/${id}/decision`, { decision, ...(feedback && { feedback }) });
  const pending = async (executionId: string): Promise<readonly Json[]> => {
    const { items } = await world.cloud.must('GET', '/v1/permissions?status=pending&limit=100');
    return items.filter((item) => item.executionId === executionId);
  };
  /** Waits until the run asks for leave. @returns what it asks */
  const question = async (executionId: string): Promise<Json> => {
    await world.cloud.until(executionId, 'WAITING_FOR_PERMISSION', 20);
    const [asked, ...more] = await pending(executionId);
    if (asked === undefined || more.length > 0) throw new Error(`It does not ask one thing: ${JSON.stringify(more)}`);
    return asked;
  };
  /** Appends once, then ends with what the call was answered. */
  const appending = () =>
    script(({ n, messages }) =>
      n === 1
        ? { text: 'I keep the log.', ...use('append_file', { path: 'log.txt', content: 'once\n' }) }
        : finish(String(lastOf(messages)?.content)),
    );
  const RESTRICTED = { permissionType: 'RESTRICTED' };
  const log = async (id: string) => (await world.cloud.call('GET', `/v1/executions/${id}/files/log.txt`)).text;

  test('the exact call is shown, and once approved it runs', async () => {
    const { model } = appending();
    const { id } = await world.cloud.run({ model, ...RESTRICTED });
    const asked = await question(id);
    expect(asked).toMatchObject({
      id: expect.stringMatching(/^ask_/),
      executionId: id,
      status: 'pending',
      tool: 'append_file',
      arguments: { path: 'log.txt', content: 'once\n' },
      argumentsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      why: 'I keep the log.',
    });
    expect((await world.cloud.call('GET', `/v1/executions/${id}/files/log.txt`)).status).toBe(404);
    expect((await decide(asked.id, 'approve')).json).toMatchObject({ id: asked.id, status: 'approved' });
    await world.cloud.until(id, 'COMPLETED', 20);
    expect(await log(id)).toBe('once\n');
    const second = await decide(asked.id, 'reject');
    expect(second).toMatchObject({ status: 409, json: { code: 'already_decided', state: 'approved' } });
    expect(await pending(id)).toEqual([]);
  });

  test('rejected with feedback: the call does not run and the model is told why', async () => {
    const { model } = appending();
    const { id } = await world.cloud.run({ model, ...RESTRICTED });
    const asked = await question(id);
    expect((await decide(asked.id, 'reject', 'use the journal')).status).toBe(200);
    const end = await world.cloud.until(id, 'COMPLETED', 20);
    expect(end.result).toMatch(/rejected.*use the journal/);
    expect((await world.cloud.call('GET', `/v1/executions/${id}/files/log.txt`)).status).toBe(404);
    const [step] = await world.cloud.steps(id);
    expect(step?.toolCalls).toMatchObject([{ name: 'append_file', outcome: 'rejected' }]);
  });

  test.each([
    ['approve', 'approve'],
    ['approve', 'reject'],
  ])('two decisions at once (%s, %s): one stands, and the tool runs at most once', async (one, two) => {
    const { model, heard } = appending();
    const { id } = await world.cloud.run({ model, ...RESTRICTED });
    const asked = await question(id);
    const answers = await Promise.all([decide(asked.id, one), decide(asked.id, two)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const stands = answers.find(({ status }) => status === 200)?.json.status;
    await world.cloud.until(id, 'COMPLETED', 20);
    const file = await world.cloud.call('GET', `/v1/executions/${id}/files/log.txt`);
    expect(file.status === 200 ? file.text : 'none').toBe(stands === 'approved' ? 'once\n' : 'none');
    expect(heard.calls).toHaveLength(2);
  });

  test('permissionTools: exactly these are asked for', async () => {
    const { model } = script(({ n }) => {
      if (n === 1) return use('write_file', { path: 'free.txt', content: 'x' });
      return n === 2 ? use('list_files', {}) : finish('done');
    });
    const { id } = await world.cloud.run({ model, ...RESTRICTED, permissionTools: ['list_files'] });
    const asked = await question(id);
    expect(asked.tool).toBe('list_files');
    await decide(asked.id, 'approve');
    await world.cloud.until(id, 'COMPLETED', 20);
  });

  test('terminated while it waits: nothing is left to decide', async () => {
    const { model } = appending();
    const { id } = await world.cloud.run({ model, ...RESTRICTED });
    const asked = await question(id);
    await world.cloud.must('POST', `/v1/executions/${id}/terminate`);
    expect(await pending(id)).toEqual([]);
    const { items } = await world.cloud.must('GET', '/v1/permissions?status=cancelled');
    expect(items.map((item) => item.id)).toContain(asked.id);
    expect(await decide(asked.id, 'approve')).toMatchObject({ status: 409, json: { state: 'cancelled' } });
    expect((await world.cloud.call('GET', `/v1/executions/${id}/files/log.txt`)).status).toBe(404);
  });
});

test('no prompt was one that a provider would have refused', () => {
  expect(world.model.problems).toEqual([]);
});
