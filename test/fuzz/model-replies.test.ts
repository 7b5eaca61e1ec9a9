import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatMessage, ModelClient, ModelOutcome } from '../../lib/model/model.ts';
import { toReply } from '../../lib/openai/reply.ts';
import { toWireBody } from '../../lib/openai/wire.ts';
import { AGENT, makeTenantEngine, ORG } from './support/engine.ts';
import { replyBody } from './support/replies.ts';
import { runs, TEST_MS } from './support/runs.ts';

/** What providers demand of a conversation: each call answered once, at once, in order; nothing else answers. */
const complaints = (messages: readonly ChatMessage[]): string[] => {
  const found: string[] = [];
  if (messages[0]?.role !== 'system') found.push('does not begin with the system prompt');
  if (messages.at(-1)?.role === 'assistant') found.push('ends with the words of the model');
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (message?.role === 'tool') found.push(`message ${at} answers no call`);
    if (message?.role !== 'assistant') continue;
    const ids = (message.toolCalls ?? []).map((call) => call.id);
    if (new Set(ids).size < ids.length) found.push(`message ${at} uses an id twice`);
    if (ids.includes('')) found.push(`message ${at} has a call without an id`);
    for (const id of ids) {
      const answer = messages[++at];
      if (answer?.role !== 'tool' || answer.toolCallId !== id) found.push(`call ${id} is not answered at ${at}`);
    }
  }
  return found;
};

const wireComplaints = (body: ReturnType<typeof toWireBody>): string[] =>
  body.messages.flatMap((message) =>
    message.role !== 'assistant'
      ? []
      : (message.tool_calls ?? []).flatMap((call) => {
          if (call.type !== 'function') return ['a call that is no function'];
          const { name, arguments: text } = call.function;
          const value: unknown = JSON.parse(text);
          const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
          return [
            ...(/^[a-zA-Z0-9_-]{1,64}$/.test(name) ? [] : [`name ${name}`]),
            ...(isObject ? [] : [`arguments ${text.slice(0, 40)}`]),
          ];
        }),
  );

/** Runs an execution whose model answers with these bodies, one after the other, then finishes. */
const play = async (bodies: readonly unknown[], config: { readonly [key: string]: unknown }, approvals: boolean[]) => {
  const engine = await makeTenantEngine();
  const wrong: string[] = [];
  let asked = 0;
  const models: ModelClient = {
    async complete(request): Promise<ModelOutcome> {
      wrong.push(...complaints(request.messages), ...wireComplaints(toWireBody(request, 'max_tokens')));
      const body = bodies[asked++] ?? {
        choices: [
          { message: { tool_calls: [{ id: 'f', function: { name: 'finish', arguments: '{"result":"r"}' } }] } },
        ],
      };
      return (
        toReply(JSON.parse(JSON.stringify(body)), request) ?? {
          kind: 'retry',
          code: 'model_unavailable',
          message: 'No completion.',
          billed: true,
        }
      );
    },
  };
  const executionId = await engine.start(ORG, AGENT, { maxIterations: 8, ...config });
  const errors: unknown[] = [];
  for (let round = 0; round < 40; round++) {
    errors.push(...(await engine.drain(models)));
    const approve = approvals[round % Math.max(1, approvals.length)] ?? true;
    if (!(await engine.answer(ORG, executionId, approve))) break;
  }
  return { engine, executionId, wrong, errors, asked, execution: await engine.execution(ORG, executionId) };
};

const config = fc.record(
  {
    permissionType: fc.constantFrom('GOD_MODE', 'RESTRICTED'),
    contextTokens: fc.constantFrom(200, 2_000, 24_000),
    repeatLimit: fc.constantFrom(2, 1_000),
    httpUnsafe: fc.boolean(),
    tools: fc.subarray(['write_file', 'read_file', 'think', 'ask_user', 'http_request', 'delete_file']),
  },
  { requiredKeys: [] },
);

describe('whatever a model answers', () => {
  it('the run goes on, waits for somebody or stops with a reason, and the next prompt is in order', {
    timeout: TEST_MS,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(replyBody, { minLength: 1, maxLength: 4 }),
        config,
        fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
        async (bodies, given, approvals) => {
          const { engine, execution, wrong, errors, asked } = await play(bodies, given, approvals);
          expect(wrong).toEqual([]);
          expect(errors).toEqual([]);
          if (execution.status === 'RUNNING') expect(engine.queued()).toBeGreaterThan(0);
          if (execution.status === 'ERROR_PAUSED') expect(execution.errorMessage).not.toBe('');
          expect(execution.reason ?? '').not.toBe('step_failed');
          // A reply is bought once: at most one call for each step, and those that were no completion.
          expect(asked).toBeLessThanOrEqual(execution.seq + bodies.length);
        },
      ),
      runs(120),
    );
  });
});
