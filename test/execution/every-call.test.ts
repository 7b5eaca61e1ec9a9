import { expect, test } from 'vitest';
import type { ModelClient, ModelRequest } from '../../lib/model/model.ts';
import { AGENT, makeTenantEngine, ORG } from '../fuzz/support/engine.ts';

const STEPS = 30;
const REPLY_TOKENS = 120;
const USAGE = { input: 100, output: 7, cached: 0 };

/** Thinks at length until it has done so often enough; condenses when it is asked without tools. */
const thinker = () => {
  const requests: ModelRequest[] = [];
  const client: ModelClient = {
    complete: async (request) => {
      requests.push(request);
      const summary = request.tools.length === 0;
      const thought = requests.filter(({ tools }) => tools.length > 0).length;
      const call = thought >= STEPS ? { result: 'done' } : { thought: `${thought} ${'x'.repeat(300)}` };
      const name = thought >= STEPS ? 'finish' : 'think';
      return {
        kind: 'reply',
        content: summary ? 'Notes.' : '',
        toolCalls: summary ? [] : [{ id: 'c', name, arguments: JSON.stringify(call) }],
        finishReason: summary ? 'stop' : 'tool_calls',
        refused: false,
        usage: USAGE,
      };
    },
  };
  return { client, requests };
};

test('every model call is booked as the provider counted it, those of summaries too, and asks for a reply of a size that can be', async () => {
  const engine = await makeTenantEngine();
  const { client, requests } = thinker();
  const config = { contextTokens: 1_000, maxReplyTokens: REPLY_TOKENS, maxIterations: 100 };
  const id = await engine.start(ORG, AGENT, config);
  expect(await engine.drain(client)).toEqual([]);
  const summaries = requests.filter(({ tools }) => tools.length === 0);
  expect(summaries.length).toBeGreaterThan(1);
  expect(requests).toHaveLength(STEPS + summaries.length);
  expect(await engine.execution(ORG, id)).toMatchObject({
    status: 'COMPLETED',
    calls: STEPS,
    tokensIn: requests.length * USAGE.input,
    tokensOut: requests.length * USAGE.output,
    cost: requests.length * (USAGE.input + USAGE.output),
  });
  // However full the window is, the reply keeps its size: it is never what is left of some limit.
  const sizes = new Set(requests.filter(({ tools }) => tools.length > 0).map(({ maxReplyTokens }) => maxReplyTokens));
  expect([...sizes]).toEqual([REPLY_TOKENS]);
  expect(Math.min(...summaries.map(({ maxReplyTokens }) => maxReplyTokens))).toBeGreaterThan(0);
});
