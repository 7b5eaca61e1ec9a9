import { beforeEach, describe, expect, it } from 'vitest';
import { BUILT_IN_NAMES } from '../../lib/workflow/built-ins.ts';
import { type Harness, makeHarness } from './support/harness.ts';

let h: Harness;
beforeEach(async () => {
  h = await makeHarness();
});

const definition = (name: string, question = 'Go on?') => ({
  name,
  start: 'ask',
  steps: {
    ask: { kind: 'ASK_PERMISSION', question, next: { YES: 'done', NO: 'ask' } },
    done: { kind: 'END' },
  },
});

const save = (body: unknown, options = {}) => h.call('POST', '/v1/workflows', body, options);
const fieldsOf = (answer: { readonly json: { readonly errors?: unknown } }): readonly string[] =>
  (answer.json.errors as readonly { readonly field: string }[]).map(({ field }) => field);

describe('saving a workflow', () => {
  it('keeps it under an id, defaults filled in', async () => {
    const made = await save(definition('mine'));
    expect(made.status).toBe(201);
    expect(made.json).toEqual({
      id: expect.stringMatching(/^wfl_/),
      name: 'mine',
      version: 1,
      builtIn: false,
      definition: { ...definition('mine'), description: '', iterations: {} },
    });
    for (const at of [made.json.id, 'mine', `${made.json.id}?version=1`, 'mine?version=1']) {
      expect((await h.call('GET', `/v1/workflows/${at}`)).json).toEqual(made.json);
    }
  });

  it('makes the next version of a name that is there, and leaves the one before as it was', async () => {
    const first = await save(definition('mine', 'first?'));
    const second = await save(definition('mine', 'second?'));
    expect(second.json).toMatchObject({ id: first.json.id, version: 2 });
    expect((await h.call('GET', '/v1/workflows/mine')).json).toEqual(second.json);
    expect((await h.call('GET', '/v1/workflows/mine?version=1')).json).toEqual(first.json);
    expect((await h.call('GET', `/v1/workflows/${first.json.id}?version=1`)).json).toEqual(first.json);
    expect((await h.call('GET', '/v1/workflows/mine?version=3')).status).toBe(404);
  });

  it('gives each of many savers of one name a version of its own', async () => {
    const saved = await Promise.all(Array.from({ length: 5 }, (_, i) => save(definition('mine', `${i}?`))));
    expect(saved.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect(saved.map(({ json }) => json.version).sort()).toEqual([1, 2, 3, 4, 5]);
    expect(new Set(saved.map(({ json }) => json.id)).size).toBe(1);
    for (const { json } of saved) {
      expect((await h.call('GET', `/v1/workflows/mine?version=${json.version}`)).json).toEqual(json);
    }
  });

  it('answers a repeat of the same key with the first answer and makes no version', async () => {
    const options = { headers: { 'idempotency-key': 'k' } };
    const both = await Promise.all([save(definition('mine'), options), save(definition('mine'), options)]);
    const again = await save(definition('mine'), options);
    expect(again.json).toEqual(both[0]?.json);
    expect(both[1]?.json).toEqual(both[0]?.json);
    expect(again.json.version).toBe(1);
    expect((await save(definition('mine', 'other?'), options)).status).toBe(422);
    expect((await h.call('GET', '/v1/workflows/mine')).json.version).toBe(1);
  });

  it('refuses what is no definition, and what is no graph, naming each place', async () => {
    expect(fieldsOf(await save({ ...definition('mine'), bogus: 1 }))).toEqual(['bogus']);
    expect(fieldsOf(await save({}))).toEqual(['name', 'start', 'steps']);
    const lost = definition('mine');
    lost.steps.ask.next.YES = 'nowhere';
    const refused = await save(lost);
    expect(refused.status).toBe(400);
    expect(refused.json.code).toBe('invalid_workflow');
    expect(fieldsOf(refused)).toEqual(['steps.ask.next.YES', 'steps.done', 'steps.ask.next']);
    const tool = {
      name: 'mine',
      start: 'fly',
      steps: {
        fly: { kind: 'TOOL', tools: ['fly', 'think'], instruction: 'Fly.', next: { default: 'done' } },
        done: { kind: 'END' },
      },
    };
    expect((await save(tool)).json.errors).toEqual([
      { field: 'steps.fly.tools[0]', received: '"fly"', expected: 'one of think, http_request' },
    ]);
    expect((await h.call('GET', '/v1/workflows/mine')).status).toBe(404);
  });

  it('refuses the names of built-in workflows', async () => {
    for (const name of BUILT_IN_NAMES) {
      const refused = await save(definition(name));
      expect(refused.status).toBe(400);
      expect(fieldsOf(refused)).toEqual(['name']);
    }
  });

  it('needs the scope write', async () => {
    expect((await save(definition('mine'), { key: await h.keyWith('run') })).status).toBe(403);
    expect((await save(definition('mine'), { key: await h.keyWith('write') })).status).toBe(201);
    expect((await h.call('GET', '/v1/workflows/mine', undefined, { key: await h.keyWith('read') })).status).toBe(200);
  });
});

describe('looking at workflows', () => {
  it('shows built-in ones by name', async () => {
    for (const name of BUILT_IN_NAMES) {
      const shown = await h.call('GET', `/v1/workflows/${name}`);
      expect(shown.json).toMatchObject({ id: name, name, version: 1, builtIn: true, definition: { name } });
      expect((await h.call('GET', `/v1/workflows/${name}?version=2`)).status).toBe(404);
    }
  });

  it.each([
    'wfl_00000000000000000000000000',
    'wfl_',
    'none',
    'NONE',
    'constructor',
    '%2e%2e',
    'a%23b',
    'x'.repeat(2_000),
  ])('has no %s', async (at) => {
    expect((await h.call('GET', `/v1/workflows/${at}`)).status).toBe(404);
  });

  it.each(['0', '-1', '1.5', 'x', '1e9'])('refuses the version %s', async (version) => {
    const refused = await h.call('GET', `/v1/workflows/goal?version=${version}`);
    expect(refused.status).toBe(400);
    expect(fieldsOf(refused)).toEqual(['version']);
  });

  it("keeps an organisation's workflows to itself", async () => {
    const made = await save(definition('mine'));
    const other = { key: h.b.apiKey };
    for (const at of ['mine', made.json.id, `${made.json.id}?version=1`, 'mine?version=1']) {
      expect((await h.call('GET', `/v1/workflows/${at}`, undefined, other)).status).toBe(404);
    }
    const listed = (await h.call('GET', '/v1/workflows', undefined, other)).json.items as { name: string }[];
    expect(listed.map(({ name }) => name).sort()).toEqual([...BUILT_IN_NAMES].sort());
    const theirs = await save(definition('mine', 'theirs?'), other);
    expect(theirs.json).toMatchObject({ version: 1 });
    expect(theirs.json.id).not.toBe(made.json.id);
    expect((await h.call('GET', '/v1/workflows/mine')).json).toEqual(made.json);
  });

  it.each([1, 2, 3, 6, 7, 50])('lists own ones newest first, then built-in ones, by pages of %i', async (limit) => {
    for (const name of ['one', 'two', 'three']) {
      await h.clock.advance(5);
      await save(definition(name));
    }
    await save(definition('one', 'again?'));
    const seen: { readonly name: string; readonly version: number; readonly builtIn: boolean }[] = [];
    let cursor = '';
    do {
      const page = await h.call('GET', `/v1/workflows?limit=${limit}&cursor=${cursor}`);
      const items = page.json.items as typeof seen;
      expect(items.length).toBeLessThanOrEqual(limit);
      seen.push(...items);
      cursor = (page.json.nextCursor as string | undefined) ?? '';
    } while (cursor !== '');
    const rest = [...BUILT_IN_NAMES].sort().reverse();
    expect(seen.map(({ name }) => name)).toEqual(['three', 'two', 'one', ...rest]);
    expect(seen.filter(({ builtIn }) => !builtIn).map(({ version }) => version)).toEqual([1, 1, 2]);
  });

  it('leaves a row that cannot be read out of the list, and says so when it is asked for', async () => {
    const made = await save(definition('mine'));
    await save(definition('other'));
    const head = h.table.dump().find(({ sk }) => sk === `WORKFLOW#${made.json.id}`);
    if (head === undefined) throw new Error('no head');
    await h.table.put({ ...head, v: 99 });
    const listed = (await h.call('GET', '/v1/workflows')).json.items as { name: string }[];
    expect(listed.map(({ name }) => name).slice(0, 1)).toEqual(['other']);
    expect((await h.call('GET', `/v1/workflows/${made.json.id}`)).status).toBe(500);
  });
});

describe('the workflow of an agent', () => {
  it('is a built-in one, or an own one by name or id', async () => {
    const made = await save(definition('mine'));
    for (const workflow of ['mine', made.json.id]) {
      const agent = await h.call('POST', '/v1/agents', { name: 'x', workflow });
      expect(agent.status).toBe(201);
      expect(agent.json.workflow).toBe('mine');
    }
    const agent = await h.call('POST', '/v1/agents', { name: 'x' });
    expect(agent.json.workflow).toBe('goal');
    const changed = await h.call('PATCH', `/v1/agents/${agent.json.id}`, { workflow: made.json.id });
    expect(changed.json.workflow).toBe('mine');
    expect((await h.call('PATCH', `/v1/agents/${agent.json.id}`, { name: 'y' })).json.workflow).toBe('mine');
    expect((await h.call('PATCH', `/v1/agents/${agent.json.id}`, { workflow: 'goal' })).json.workflow).toBe('goal');
  });

  it('is refused when there is none such, naming what there is', async () => {
    await save(definition('mine'));
    const id = await h.agent();
    const unknown = 'wfl_00000000000000000000000000';
    for (const workflow of ['nope', unknown, '', 'constructor']) {
      for (const refused of [
        await h.call('POST', '/v1/agents', { name: 'x', workflow }),
        await h.call('PATCH', `/v1/agents/${id}`, { workflow }),
      ]) {
        expect(refused.status).toBe(400);
        expect(refused.json.errors).toEqual([
          { field: 'workflow', received: `"${workflow}"`, expected: 'one of goal, mine' },
        ]);
      }
    }
  });

  it('is never one of another organisation', async () => {
    const theirs = await save(definition('theirs'), { key: h.b.apiKey });
    const id = await h.agent();
    for (const workflow of ['theirs', theirs.json.id]) {
      expect((await h.call('POST', '/v1/agents', { name: 'x', workflow })).status).toBe(400);
      expect((await h.call('PATCH', `/v1/agents/${id}`, { workflow })).status).toBe(400);
    }
    const other = await h.call('POST', '/v1/agents', { name: 'x', workflow: 'theirs' }, { key: h.b.apiKey });
    expect(other.status).toBe(201);
  });
});
