import { expect, test } from 'vitest';
import type { ModelClient, ToolCall } from '../../lib/model/model.ts';
import { AGENT, makeTenantEngine, ORG } from '../fuzz/support/engine.ts';

const DAY = 86_400_000;

const says = (name: string, args: object): ModelClient => ({
  complete: async () => {
    const toolCalls: ToolCall[] = [{ id: 'call_0', name, arguments: JSON.stringify(args) }];
    return {
      kind: 'reply',
      content: '',
      toolCalls,
      finishReason: 'tool_calls',
      refused: false,
      usage: { input: 10, output: 5, cached: 0 },
    };
  },
});

test.each([true, false])(
  'a permission that is answered after three days counts (approve %s): waiting for people uses no time up',
  async (approve) => {
    const engine = await makeTenantEngine();
    const config = { permissionType: 'RESTRICTED', permissionTools: ['write_file'], maxSeconds: 60 };
    const id = await engine.start(ORG, AGENT, config);
    expect(await engine.drain(says('write_file', { path: 'a.txt', content: 'hello' }))).toEqual([]);
    expect(await engine.execution(ORG, id)).toMatchObject({ status: 'WAITING_FOR_PERMISSION' });
    engine.pass(3 * DAY);
    expect(await engine.answer(ORG, id, approve)).toBe(true);
    expect(await engine.drain(says('finish', { result: 'done' }))).toEqual([]);
    expect(await engine.execution(ORG, id)).toMatchObject({ status: 'COMPLETED', result: 'done' });
    const files = engine.table.dump().filter(({ pk, sk }) => pk.includes(id) && sk.startsWith('FILE#'));
    expect(files).toHaveLength(approve ? 1 : 0);
  },
);
