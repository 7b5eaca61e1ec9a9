import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type FeedRow } from './support/api.ts';
import { residentMb } from './support/memory.ts';
import { finish, type ToolUse, use } from './support/scripted-model.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.close());

/** One assistant row for each step, in order, none missing. */
const assistantSeqs = (feed: readonly FeedRow[]): number[] =>
  feed.filter(({ role }) => role === 'assistant').map(({ seq }) => seq);

test('120 steps with summaries, a 429 in between and parallel calls: each step once, no prompt a provider would refuse', async () => {
  const STEPS = 120;
  let limited = false;
  const heard = world.model.script('long', ({ n }) => {
    if (n === 41 && !limited) {
      limited = true;
      return { status: 429, headers: { 'retry-after': '1' }, body: { error: { message: 'slow down', type: 'limit' } } };
    }
    const step = limited ? n - 1 : n;
    if (step === STEPS) return finish('all written');
    const file = (part: number): ToolUse => ({
      name: 'write_file',
      args: { path: `step-${step}-${part}.txt`, content: `${step} `.repeat(60) },
    });
    return { calls: step % 10 === 0 ? [file(1), { name: 'think', args: { thought: 'so far' } }, file(2)] : [file(1)] };
  });
  const began = performance.now();
  const { id } = await world.cloud.run({ model: 'long', maxIterations: 500, contextTokens: 1500 });
  const end = await world.cloud.until(id, ['COMPLETED', 'ERROR_PAUSED', 'FAILED', 'ITERATION_LIMIT_EXCEEDED'], 120);
  const ms = performance.now() - began;
  expect(end).toMatchObject({ status: 'COMPLETED', result: 'all written', calls: STEPS });
  // The refused call is a request, and no call of a step.
  expect(heard.calls).toHaveLength(STEPS + 1);
  expect(heard.summaries.length).toBeGreaterThan(0);
  expect(world.model.problems).toEqual([]);
  const waited = (heard.calls[41]?.at ?? 0) - (heard.calls[40]?.at ?? 0);
  expect(waited).toBeGreaterThanOrEqual(950);

  const steps = await world.cloud.steps(id);
  expect(steps.filter(({ phase }) => phase === 'think')).toHaveLength(STEPS);
  expect(steps.filter(({ phase }) => phase === 'summarise')).toHaveLength(heard.summaries.length);
  expect(steps.map(({ seq }) => seq)).toEqual(Array.from({ length: steps.length }, (_, index) => index + 1));
  const feed = await world.cloud.feed(id);
  const seqs = assistantSeqs(feed);
  expect(seqs).toHaveLength(STEPS);
  expect(new Set(seqs).size).toBe(STEPS);
  const files = await world.cloud.must('GET', `/v1/executions/${id}/files?limit=1000`);
  expect(files.items).toHaveLength(STEPS - 1 + 11);
  // The window bounds what a step is sent: a late prompt is no longer than an early one.
  expect(Math.max(...heard.calls.map(({ messages }) => messages.length))).toBeLessThan(60);
  console.log(`120 steps: ${Math.round(ms)} ms, ${heard.summaries.length} summaries`);
}, 130_000);

test('1,000 steps', async () => {
  const STEPS = 1000;
  const heard = world.model.script('thousand', ({ n }) =>
    n === STEPS ? finish('a thousand') : use('think', { thought: `step ${n}` }),
  );
  const began = performance.now();
  const { id } = await world.cloud.run({ model: 'thousand', maxIterations: 1000, contextTokens: 3000 });
  const end = await world.cloud.until(id, ['COMPLETED', 'ERROR_PAUSED', 'FAILED', 'ITERATION_LIMIT_EXCEEDED'], 170);
  const ms = performance.now() - began;
  expect(end).toMatchObject({ status: 'COMPLETED', calls: STEPS, result: 'a thousand' });
  expect(heard.calls).toHaveLength(STEPS);
  expect(world.model.problems).toEqual([]);
  const at = heard.calls.map((call) => call.at);
  const median = (from: number, to: number): number => {
    const gaps = at.slice(from, to).map((time, index) => time - (at[from + index - 1] ?? time));
    return gaps.sort((a, b) => a - b)[gaps.length >> 1] ?? 0;
  };
  console.log(
    `1,000 steps: ${Math.round(ms)} ms, ${heard.summaries.length} summaries, median gap ` +
      `${median(100, 200).toFixed(1)} ms at 100-200, ${median(900, 1000).toFixed(1)} ms at 900-1,000`,
  );
}, 180_000);

test('50 executions at once end, and the whole process tree stays below 1.5 GB', async () => {
  const heard = world.model.script('crowd', ({ messages }) => {
    const steps = messages.filter(({ role }) => role === 'assistant').length;
    return steps < 3 ? { ...use('think', { thought: `thought ${steps}` }), waitMs: 30 } : finish('one of many');
  });
  const { id: agentId } = await world.cloud.agent({ model: 'crowd' });
  const began = performance.now();
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, residentMb(world.cloud.started().pid));
  }, 100);
  try {
    const runs = await Promise.all(
      Array.from({ length: 50 }, () => world.cloud.must('POST', `/v1/agents/${agentId}/executions`, {})),
    );
    // One question for all: fifty that poll would be the greater load.
    await eventually(
      'all have ended',
      async () => {
        const path = `/v1/executions?agentId=${agentId}&status=COMPLETED&limit=100`;
        return (await world.cloud.must('GET', path)).items.length === runs.length;
      },
      90,
    );
  } finally {
    clearInterval(watch);
  }
  expect(heard.calls).toHaveLength(50 * 4);
  console.log(`50 at once: ${Math.round(performance.now() - began)} ms, at most ${most.toFixed(0)} MB resident`);
  if (process.platform === 'linux') expect(most).toBeGreaterThan(50);
  expect(most).toBeLessThan(1500);
}, 100_000);
