import { describe, expect, it } from 'vitest';
import { makeRowMemory } from '../../lib/execution/step/row-memory.ts';
import { keys } from '../../lib/kernel/keys.ts';
import type { Key, Table } from '../../lib/kernel/table.ts';
import type { ModelClient } from '../../lib/model/model.ts';
import { AGENT, makeTenantEngine, ORG } from '../fuzz/support/engine.ts';

const row = (sk: string, text = '') => ({ pk: 'p', sk, v: 1, text });

describe('the memory of a process', () => {
  it('knows what it was given, by the whole key', () => {
    const memory = makeRowMemory();
    memory.keep(row('a'));
    expect(memory.get({ pk: 'p', sk: 'a' })).toEqual(row('a'));
    expect(memory.get({ pk: 'p', sk: 'b' })).toBeUndefined();
    expect(memory.get({ pk: 'q', sk: 'a' })).toBeUndefined();
  });

  it('lets go of what was not asked for the longest', () => {
    const memory = makeRowMemory(3 * JSON.stringify(row('a')).length);
    for (const sk of ['a', 'b', 'c']) memory.keep(row(sk));
    memory.get(row('a'));
    memory.keep(row('d'));
    const known = ['a', 'b', 'c', 'd'].filter((sk) => memory.get(row(sk)) !== undefined);
    expect(known).toEqual(['a', 'c', 'd']);
  });

  it('counts a row that is kept twice once', () => {
    const memory = makeRowMemory(2 * JSON.stringify(row('a')).length);
    for (const sk of ['a', 'b', 'b', 'b']) memory.keep(row(sk));
    expect(memory.get(row('a'))).toBeDefined();
  });

  it('takes no row that is bigger than all of it, and keeps the others', () => {
    const memory = makeRowMemory(100);
    memory.keep(row('a'));
    memory.keep(row('b', 'x'.repeat(100)));
    expect(memory.get(row('a'))).toBeDefined();
    expect(memory.get(row('b'))).toBeUndefined();
  });
});

describe('a step', () => {
  let turns = 0;
  const thinking: ModelClient = {
    complete: async () => ({
      kind: 'reply',
      content: '',
      toolCalls: [{ id: 'c', name: 'think', arguments: JSON.stringify({ thought: `thought ${turns++}` }) }],
      finishReason: 'tool_calls',
      refused: false,
      usage: { input: 1, output: 1, cached: 0 },
    }),
  };

  /** Counts what is read by key, beside the table. */
  const spied = (table: Table): { readonly table: Table; readonly got: Key[] } => {
    const got: Key[] = [];
    return {
      got,
      table: {
        ...table,
        get: (key, options) => {
          got.push(key);
          return table.get(key, options);
        },
      },
    };
  };

  it('reads the pinned configuration once in a process, and another process for itself', async () => {
    const engine = await makeTenantEngine();
    const executionId = await engine.start(ORG, AGENT);
    const { table, got } = spied(engine.table);
    const pinned = () => got.filter(({ sk }) => sk === keys.pinned(ORG, executionId).sk).length;
    const first = { memory: makeRowMemory(), table };
    for (let step = 0; step < 4; step++) expect(await engine.deliver(thinking, first)).toBeUndefined();
    expect((await engine.execution(ORG, executionId)).seq).toBe(5);
    expect(pinned()).toBe(1);
    expect(await engine.deliver(thinking, { memory: makeRowMemory(), table })).toBeUndefined();
    expect(pinned()).toBe(2);
  });

  it('reads each summary once in a process', async () => {
    const engine = await makeTenantEngine();
    await engine.start(ORG, AGENT, { contextTokens: 300, maxIterations: 200 });
    const { table, got } = spied(engine.table);
    const process = { memory: makeRowMemory(), table };
    for (let step = 0; step < 60; step++) expect(await engine.deliver(thinking, process)).toBeUndefined();
    const summaries = got.filter(({ sk }) => sk.startsWith('FEED#')).map(({ sk }) => sk);
    expect(summaries.length).toBeGreaterThan(1);
    expect(new Set(summaries).size).toBe(summaries.length);
  });

  it('does not remember a configuration that it could not read: mended by hand, the run goes on', async () => {
    const engine = await makeTenantEngine();
    const executionId = await engine.start(ORG, AGENT);
    const good = await engine.table.get(keys.pinned(ORG, executionId));
    if (good === undefined) throw new Error('missing');
    const process = { memory: makeRowMemory() };
    await engine.plant({ ...good, json: '{' });
    expect(await engine.deliver(thinking, process)).toMatchObject({ name: 'UnreadableRow' });
    await engine.plant(good);
    expect(await engine.deliver(thinking, process)).toBeUndefined();
    expect((await engine.execution(ORG, executionId)).seq).toBe(2);
  });
});
