import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from './support/api.ts';
import { finish, type Script, use } from './support/scripted-model.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ STEP_DELAY_SECONDS: '0' });
});
afterAll(() => world?.close());

interface Usage {
  readonly key: string;
  readonly runs: number;
  readonly calls: number;
  readonly tokens: { readonly input: number; readonly output: number; readonly cached: number };
  readonly costUsd: number;
  readonly seconds: number;
  readonly errors: number;
}

const usage = async (by: string): Promise<readonly Usage[]> =>
  (await world.cloud.must('GET', `/v1/usage?by=${by}`)).items as unknown as readonly Usage[];

const sum = (items: readonly Usage[], figure: (item: Usage) => number): number =>
  items.reduce((total, item) => total + figure(item), 0);

/** A model whose calls have a price: $1,000 per million tokens, so that a call of 120 tokens costs $0.12. */
const priced = async (name: string, script: Script): Promise<void> => {
  world.model.script(name, script);
  await world.cloud.must('PUT', `/v1/providers/of-${name}`, {
    baseUrl: world.model.url,
    apiKey: 'some-key-1234567890',
    models: [{ name, inputUsdPerM: 1_000, outputUsdPerM: 1_000 }],
  });
};
/** Worst case of a call: 2 × 2,000 tokens in and 100 out, $4.1; with one tool alone prompts stay below 4,000 bytes for long. */
const SMALL = { tools: ['think'], contextTokens: 2_000, maxReplyTokens: 100, maxCostUsd: 500 };

const thinks =
  (steps: number): Script =>
  ({ messages }) => {
    const replies = messages.filter(({ role }) => role === 'assistant').length;
    return replies < steps ? use('think', { thought: `thought ${replies}` }) : finish('done');
  };

test('usage is what the runs say they have used, in every dimension, though everything is killed in between', async () => {
  await priced('counted', thinks(6));
  const runs = await Promise.all(
    [1, 2, 3].map(() => world.cloud.run({ model: 'counted', ...SMALL, contextTokens: 24_000 })),
  );
  await sleep(1_200);
  await world.cloud.kill();
  await world.cloud.start();
  const ended = await Promise.all(runs.map(({ id }) => world.cloud.until(id, 'COMPLETED', 60)));
  const cost = ended.reduce((total, { costUsd }) => total + costUsd, 0);
  expect(cost).toBeGreaterThanOrEqual(3 * 7 * 0.12 - 1e-9);
  await eventually(
    'the books are closed',
    async () => Math.abs(sum(await usage('day'), (one) => one.costUsd) - cost) < 1e-9,
  );
  for (const by of ['day', 'agent', 'project', 'model']) {
    const items = await usage(by);
    expect(sum(items, (one) => one.costUsd)).toBeCloseTo(cost, 9);
    expect(sum(items, (one) => one.runs)).toBe(3);
    expect(sum(items, (one) => one.calls)).toBe(3 * 7);
    expect(sum(items, (one) => one.tokens.input)).toBe(3 * 7 * 100);
    expect(sum(items, (one) => one.tokens.output)).toBe(3 * 7 * 20);
  }
  expect((await usage('model')).map(({ key }) => key)).toEqual(['counted']);
  expect((await usage('agent')).map(({ key }) => key).sort()).toEqual(ended.map(({ agentId }) => agentId).sort());
  const tools = (await usage('tool')).map(({ key, calls, errors }) => [key, calls, errors]);
  expect(tools).toEqual([
    ['finish', 3, 0],
    ['think', 18, 0],
  ]);
  expect(sum(await usage('day'), (one) => one.seconds)).toBeGreaterThan(0.5);
}, 120_000);

test('a daily budget stops many runs before it is overspent, tells people once, and lets them go on when it is raised', async () => {
  await priced('endless', ({ n }) => use('think', { thought: `thought ${n}` }));
  const spentBefore = sum(await usage('day'), (one) => one.costUsd);
  // Room for what was spent already and for some dozen calls.
  const dailyBudgetUsd = Math.ceil(spentBefore) + 24;
  await world.cloud.must('PATCH', '/v1/organisation', { dailyBudgetUsd });
  const runs = await Promise.all(
    [1, 2, 3, 4].map(() => world.cloud.run({ model: 'endless', ...SMALL, maxIterations: 1_000 })),
  );
  const stopped = await Promise.all(
    runs.map(({ id }) => world.cloud.until(id, ['BUDGET_EXCEEDED', 'ERROR_PAUSED', 'COMPLETED'], 60)),
  );
  expect(stopped.map(({ status, reason }) => `${status} ${reason}`)).toEqual(
    runs.map(() => 'BUDGET_EXCEEDED organisation_daily_budget'),
  );
  const spent = stopped.reduce((total, { costUsd }) => total + costUsd, spentBefore);
  expect(spent).toBeLessThanOrEqual(dailyBudgetUsd);
  const items = (await world.cloud.must('GET', '/v1/attention?kind=organisation_budget')).items as unknown as {
    readonly actions: readonly { readonly method: string; readonly path: string; readonly body: unknown }[];
  }[];
  expect(items).toHaveLength(1);
  // What the runs held and did not spend has gone back.
  const today = async () =>
    (await world.cloud.must('GET', '/v1/organisation')) as unknown as {
      readonly today: { readonly grantedUsd: number; readonly spentUsd: number };
    };
  await eventually('the tranches are back', async () => Math.abs((await today()).today.grantedUsd - spent) < 1e-6);
  expect((await today()).today.spentUsd).toBeCloseTo(spent, 6);
  console.log(`daily budget $${dailyBudgetUsd}: $${spent.toFixed(2)} spent by 4 runs at once, none beyond it`);

  // Lowered, a resume is refused; raised, as the item says, the run goes on.
  const [first] = runs;
  await world.cloud.must('PATCH', '/v1/organisation', { dailyBudgetUsd: Math.floor(spent) });
  const refused = await world.cloud.call('POST', `/v1/executions/${first?.id}/resume`);
  expect([refused.status, refused.json.code]).toEqual([409, 'limit_not_raised']);
  const [raise] = items[0]?.actions ?? [];
  await world.cloud.must(raise?.method ?? '', raise?.path ?? '', raise?.body);
  expect((await world.cloud.must('GET', '/v1/attention?kind=organisation_budget')).items).toEqual([]);
  expect((await world.cloud.must('POST', `/v1/executions/${first?.id}/resume`)).status).toBe('RUNNING');
  await eventually('it spends again', async () => {
    const { costUsd } = await world.cloud.must('GET', `/v1/executions/${first?.id}`);
    return costUsd > (stopped[0]?.costUsd ?? 0);
  });
  await world.cloud.must('POST', `/v1/executions/${first?.id}/terminate`);
}, 120_000);

test('the audit names who did it', async () => {
  const agent = await world.cloud.agent({ goals: ['x'] });
  const found = await world.cloud.must('GET', `/v1/audit?subject=${agent.id}`);
  expect(found.items).toMatchObject([
    { action: 'createAgent', state: 'done', subject: { type: 'agent', id: agent.id } },
  ]);
});
