/** What a workflow does where something is amiss, or where a person has a word in it. */
import { expect, it } from 'vitest';
import { changeLimits } from '../../lib/execution/change-limits.ts';
import { A } from '../../lib/execution/execution.ts';
import type { Item } from '../../lib/kernel/table.ts';
import { checkDefinition } from '../../lib/workflow/validate.ts';
import { judge } from './judge.ts';
import { simulate } from './play.ts';
import type { Scenario } from './scenario.ts';
import type { SimAnswer } from './sim-model.ts';
import { executionIdOf, ORG, type Sim } from './sim-run.ts';

const TOOLS = ['look', 'post', 'pay', 'ask_user'];
const define = (steps: object, start: string) => checkDefinition({ name: 'case', start, steps }, TOOLS);
const scenario = (steps: object, start: string, more: Partial<Scenario> = {}): Scenario => ({
  seed: 1,
  script: [],
  workflow: define(steps, start),
  answers: () => ({ text: 'Yes.' }),
  ...more,
});
const contents = (sim: Sim): readonly string[] =>
  sim.memory.dump().flatMap((row) => (typeof row.c === 'string' ? [row.c] : []));

/** Somebody's act takes virtual time. */
const meanwhile = async <T>(sim: Sim, act: Promise<T>): Promise<T> => {
  let done = false;
  void act.finally(() => (done = true));
  await sim.world.run(sim.world.now + 60_000, () => done);
  return act;
};

const ROUND = {
  judge: { kind: 'CONDITION', expression: 'input == "stop"', next: { YES: 'done', NO: 'judge' } },
  done: { kind: 'END', result: 'stopped' },
};

it('a loop that calls no model ends at maxSteps, and goes on once that is raised', async () => {
  const round = scenario(ROUND, 'judge', { config: { maxSteps: 7 }, expects: { status: 'ITERATION_LIMIT_EXCEEDED' } });
  const { sim, violations } = await judge(round);
  expect(violations).toEqual([]);
  expect(await sim.execution()).toMatchObject({ seq: 8, calls: 0, reason: 'max_steps', idleSteps: 7 });
  expect(await meanwhile(sim, sim.resume())).toBe(false);
  const at = { orgId: ORG, executionId: executionIdOf(0) };
  await meanwhile(sim, changeLimits(sim.deps(), at, { maxSteps: 9 }));
  expect(await meanwhile(sim, sim.resume())).toBe(true);
  await sim.world.run(sim.world.now + 60_000, () => false);
  expect(await sim.execution()).toMatchObject({ status: 'ITERATION_LIMIT_EXCEEDED', seq: 10, idleSteps: 9 });
});

it('an expression that looks at the messages reads them, and the run ends', async () => {
  const people = (sim: Sim): void => sim.world.after(300, () => void sim.input()) as never;
  const said = { ...ROUND, judge: { ...ROUND.judge, expression: 'input.startsWith("input-")' } };
  const { sim, violations } = await judge(scenario(said, 'judge', { people }));
  expect(violations).toEqual([]);
  expect(await sim.execution()).toMatchObject({ status: 'COMPLETED', result: 'stopped', calls: 0 });
});

const CHOICE = {
  ask: { kind: 'CONDITION', question: 'Left or right?', next: { left: 'done', right: 'done' } },
  done: { kind: 'END', result: 'chosen' },
};

it('a choice that cannot be read twice, without a default, stops with a reason; a resume asks again', async () => {
  let asked = 0;
  const answers = (): SimAnswer => ({ text: ++asked <= 2 ? 'Maybe.' : '{"label":"left"}' });
  const stopped = await simulate(scenario(CHOICE, 'ask', { answers, expects: { status: 'ERROR_PAUSED' } }));
  expect(await stopped.execution()).toMatchObject({ reason: 'no_usable_choice', seq: 3, calls: 2, stepId: 'case/ask' });
  expect((await stopped.execution()).errorMessage).toContain('"Maybe."');
  await meanwhile(stopped, stopped.resume());
  await stopped.world.run(stopped.world.now + 60_000, () => false);
  expect(await stopped.execution()).toMatchObject({ status: 'COMPLETED', result: 'chosen', calls: 3 });
});

it('a message that comes before the end is answered before it', async () => {
  const steps = {
    pause: { kind: 'WAIT', seconds: 60, next: { default: 'done' } },
    done: { kind: 'END' },
  };
  const people = (sim: Sim): void => sim.world.after(5_000, () => void sim.input()) as never;
  const answers = ({ messages }: { readonly messages: readonly { readonly content: string }[] }): SimAnswer => ({
    text: messages.some(({ content }) => content === 'input-0') ? 'heard' : 'deaf',
  });
  const { sim, violations } = await judge(scenario(steps, 'pause', { people, answers }));
  expect(violations).toEqual([]);
  expect(await sim.execution()).toMatchObject({ status: 'COMPLETED', result: 'heard', calls: 1, stepId: 'case/done' });
});

it('a wait ends at a message where it says so', async () => {
  const steps = {
    pause: { kind: 'WAIT', seconds: 86_400, wakeOnInput: true, next: { default: 'done' } },
    done: { kind: 'END' },
  };
  const people = (sim: Sim): void => sim.world.after(5_000, () => void sim.input()) as never;
  const { sim, violations } = await judge(scenario(steps, 'pause', { people }));
  expect(violations).toEqual([]);
  const { created, updated, status } = await sim.execution();
  expect(status).toBe('COMPLETED');
  expect(updated - created).toBeLessThan(60_000);
  expect(contents(sim)).toContainEqual(expect.stringMatching(/^Waited \d of 86400 s, until a message came\.$/));
});

it('nobody decides in time: that is a no', async () => {
  const steps = {
    ask: { kind: 'ASK_PERMISSION', question: 'Pay?', next: { YES: 'paid', NO: 'done' } },
    paid: { kind: 'TOOL', tools: ['pay'], instruction: 'Pay.', next: { default: 'done' } },
    done: { kind: 'END', result: 'over' },
  };
  const config = { permissionTtlSeconds: 300 };
  const { sim, violations } = await judge(scenario(steps, 'ask', { config, patienceMs: 600_000 }));
  expect(violations).toEqual([]);
  expect(sim.effects).toEqual([]);
  expect(contents(sim)).toContain('Nobody decided in time: Pay?');
});

it('an unsafe call of a TOOL step asks for leave, and a refusal is what the step came to', async () => {
  const steps = {
    pay: { kind: 'TOOL', tools: ['pay'], instruction: 'Pay.', next: { default: 'done' } },
    done: { kind: 'END' },
  };
  const answers = (): SimAnswer => ({ calls: [['pay', {}]] });
  const asked = { config: { permissionType: 'RESTRICTED' }, answers };
  const refused = await judge(scenario(steps, 'pay', { ...asked, approves: () => false }));
  expect(refused.violations).toEqual([]);
  expect(refused.sim.effects).toEqual([]);
  expect((await refused.sim.execution()).result).toContain('A person rejected this call');
  const allowed = await judge(scenario(steps, 'pay', asked));
  expect(allowed.sim.effects).toHaveLength(1);
});

it('a call that could not be carried out is asked for once more, and what comes then is taken', async () => {
  const steps = {
    look: { kind: 'TOOL', tools: ['look'], instruction: 'Look.', history: false, next: { default: 'done' } },
    done: { kind: 'END' },
  };
  let asked = 0;
  const answers = (): SimAnswer => ({ calls: [++asked === 1 ? ['peek', {}] : ['look', {}]] });
  const { sim, violations } = await judge(scenario(steps, 'look', { answers }));
  expect(violations).toEqual([]);
  expect(await sim.execution()).toMatchObject({ result: 'look done', calls: 2 });
  const never = await judge(scenario(steps, 'look', { answers: () => ({ calls: [['peek', {}]] }) }));
  expect(await never.sim.execution()).toMatchObject({ status: 'COMPLETED', calls: 2 });
});

/** As DynamoDB counts an item: names, texts, half a byte a digit; nested values a little more than they take. */
const bytesOf = (item: Item): number =>
  Object.entries(item).reduce((sum, [name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const bytes = typeof value === 'number' ? Math.ceil(text.length / 2) + 1 : Buffer.byteLength(text);
    return sum + Buffer.byteLength(name) + bytes;
  }, 0);

it('the row of a run with tasks stays below a kilobyte', async () => {
  const { WORKFLOW_BASES } = await import('./workflow-scenarios.ts');
  for (const base of Object.values(WORKFLOW_BASES)) {
    const { sim } = await judge({ seed: 1, ...base });
    const running = sim.observed.observations.filter(({ to }) => to[A.status] === 'RUNNING');
    expect(Math.max(...running.map(({ to }) => bytesOf(to)))).toBeLessThan(1_024);
  }
});

it('the answer to a question of the last step is no message that asks for more', async () => {
  const steps = {
    ask: { kind: 'TOOL', tools: ['ask_user'], instruction: 'Ask.', next: { default: 'done' } },
    done: { kind: 'END' },
  };
  const answers = (): SimAnswer => ({ calls: [['ask_user', { question: 'Which?' }]] });
  const { sim, violations } = await judge(scenario(steps, 'ask', { answers }));
  expect(violations).toEqual([]);
  expect(await sim.execution()).toMatchObject({ status: 'COMPLETED', result: 'input-0', calls: 1 });
});

it('a task that nothing was done for keeps what was decided about it', async () => {
  const steps = {
    find: { kind: 'TOOL', tools: ['look'], instruction: 'Look.', next: { default: 'each' } },
    each: { kind: 'TASK_QUEUE', instruction: 'What?', next: { default: 'ask', COMPLETE: 'done' } },
    ask: { kind: 'ASK_PERMISSION', question: 'Pay {task}?', next: { YES: 'each', NO: 'each' } },
    done: { kind: 'END', result: '{completed}' },
  };
  const answers = ({ tools }: { readonly tools: readonly unknown[] }): SimAnswer =>
    tools.length > 0 ? { calls: [['look', {}]] } : { text: '["rent"]' };
  const { sim, violations } = await judge(scenario(steps, 'find', { answers, approves: () => false }));
  expect(violations).toEqual([]);
  expect((await sim.execution()).result).toBe('1. rent: A person rejected: Pay rent?');
});
