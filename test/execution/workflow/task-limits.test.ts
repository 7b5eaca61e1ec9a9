/** A list of tasks is worked as a whole, or a person is told why not: nothing is left out in silence. */
import { describe, expect, it } from 'vitest';
import type { ModelOutcome, ModelRequest } from '../../../lib/model/model.ts';
import { checkDefinition } from '../../../lib/workflow/validate.ts';
import { judge } from '../../simulation/judge.ts';
import { simulate } from '../../simulation/play.ts';
import type { Scenario } from '../../simulation/scenario.ts';
import type { SimAnswer } from '../../simulation/sim-model.ts';
import type { Sim } from '../../simulation/sim-run.ts';

const list = (length: number, pad = 0): readonly string[] =>
  Array.from({ length }, (_, i) => `task ${i}`.padEnd(pad, '.'));
const json = (tasks: readonly string[]): SimAnswer => ({ text: JSON.stringify({ tasks }) });
const lastWords = ({ messages }: ModelRequest): string => messages.at(-1)?.content ?? '';

/** Makes a list and takes its tasks one by one; nothing is done for them. */
const QUEUE = checkDefinition({
  name: 'queue',
  start: 'each',
  steps: {
    each: { kind: 'TASK_QUEUE', instruction: 'Which?', next: { default: 'pass', COMPLETE: 'done' } },
    pass: { kind: 'CONDITION', expression: 'true', next: { default: 'each' } },
    done: { kind: 'END', result: '{last}' },
  },
});

const scenario = (answers: Scenario['answers'], more: Partial<Scenario> = {}): Scenario => ({
  seed: 1,
  script: [],
  workflow: QUEUE,
  config: { maxSteps: 5_000 },
  stepDelaySeconds: 0,
  ...(answers && { answers }),
  ...more,
});
const contents = (sim: Sim): readonly string[] =>
  sim.memory.dump().flatMap((row) => (typeof row.c === 'string' ? [row.c] : []));
/** Texts of the newest generation, in their order. */
const tasksIn = (sim: Sim): readonly unknown[] => {
  const rows = sim.memory.dump().filter(({ sk }) => /^TASK#/.test(sk));
  const newest = rows
    .map(({ sk }) => sk.split('#')[1] ?? '')
    .sort()
    .at(-1);
  return rows.filter(({ sk }) => sk.split('#')[1] === newest).map(({ text }) => text);
};

describe('a TASK_QUEUE', () => {
  it.each([100, 101])(
    'works all of %i tasks',
    async (length) => {
      const { sim, violations } = await judge(scenario(() => json(list(length))));
      expect(violations).toEqual([]);
      expect(await sim.execution()).toMatchObject({ status: 'COMPLETED', calls: 1 });
      expect(contents(sim)).toContain(`All ${length} tasks are done.`);
    },
    60_000,
  );

  it('holds 500 tasks', async () => {
    const leave = { kind: 'CONDITION', expression: 'task == "task 2"', next: { YES: 'done', NO: 'each' } };
    const workflow = checkDefinition({ ...QUEUE, steps: { ...QUEUE.steps, pass: leave } });
    const { sim, violations } = await judge(scenario(() => json(list(500)), { workflow }));
    expect(violations).toEqual([]);
    expect(contents(sim)).toContain('Task 3 of 500: task 2');
    expect(tasksIn(sim)).toEqual(list(500));
  });

  it('tells the model how many it may give, and asks once more when there are more', async () => {
    const asked: ModelRequest[] = [];
    const answers = (request: ModelRequest): SimAnswer => {
      asked.push(request);
      return json(list(asked.length === 1 ? 501 : 2));
    };
    const { sim, violations } = await judge(scenario(answers));
    expect(violations).toEqual([]);
    expect(asked[0]?.responseSchema?.schema).toMatchObject({ properties: { tasks: { maxItems: 500 } } });
    expect(lastWords(asked[0] as ModelRequest)).toContain('at most 500');
    expect(lastWords(asked[1] as ModelRequest)).toContain('lists 501 tasks, and at most 500 are allowed');
    expect(contents(sim)).toContain('All 2 tasks are done.');
  });

  it.each([
    ['501 tasks', json(list(501)), /lists 501 tasks, and at most 500/],
    [
      '501 points',
      {
        text: list(501)
          .map((task) => `- ${task}`)
          .join('\n'),
      },
      /lists 501 tasks, and at most 500/,
    ],
    ['a task too long', json(['a', 'x'.repeat(2_001)]), /task 2 has 2001 characters, and at most 2000/],
  ])('stops for a person when it stays at %s, and asks again after a resume', async (_, answer, message) => {
    let mended = false;
    const answers = () => (mended ? json(['one']) : answer);
    const stopped = await simulate(scenario(answers, { expects: { status: 'ERROR_PAUSED' } }));
    expect(await stopped.execution()).toMatchObject({
      status: 'ERROR_PAUSED',
      reason: 'no_usable_tasks',
      errorMessage: expect.stringMatching(message),
      calls: 2,
      stepId: 'queue/each',
    });
    expect(tasksIn(stopped)).toEqual([]);
    mended = true;
    void stopped.resume();
    await stopped.world.run(stopped.world.now + 120_000, () => false);
    expect((await stopped.execution()).status).toBe('COMPLETED');
    expect(contents(stopped)).toContain('All 1 tasks are done.');
  });

  it('reads a list that is too long for a row', async () => {
    const long = list(60, 2_000);
    const { sim, violations } = await judge(scenario(() => json(long)));
    expect(violations).toEqual([]);
    expect(tasksIn(sim)).toEqual(long);
  }, 60_000);

  it('takes no part of a list for the whole when the reply was cut', async () => {
    const cut: ModelOutcome = {
      kind: 'reply',
      content: '1. first\n2. sec',
      toolCalls: [],
      finishReason: 'length',
      refused: false,
      usage: { input: 10, output: 7, cached: 0 },
    };
    const asked: string[] = [];
    const answers = (request: ModelRequest): SimAnswer => {
      asked.push(lastWords(request));
      return json(['first', 'second']);
    };
    const { sim } = await judge(scenario(answers, { troubles: [cut] }));
    expect(asked[0]).toContain('was cut at the most tokens');
    expect(contents(sim)).toContain('All 2 tasks are done.');
    const never = await simulate(scenario(answers, { troubles: [cut, cut], expects: { status: 'ERROR_PAUSED' } }));
    expect(await never.execution()).toMatchObject({
      reason: 'no_usable_tasks',
      errorMessage: expect.stringContaining('cut at 7 tokens'),
    });
  });
});

/** One list: a plan, then one inner step that changes it, then the end. */
const changing = (change: object) =>
  checkDefinition({
    name: 'changing',
    start: 'plan',
    steps: {
      plan: { kind: 'ITERATION', iteration: 'plan', next: { default: 'change', COMPLETE: 'done' } },
      change: { kind: 'ITERATION', iteration: 'change', next: { default: 'done', COMPLETE: 'done' } },
      done: { kind: 'END', result: 'over' },
    },
    iterations: {
      plan: { taskQueue: true, start: 'plan', steps: { plan: { prompt: 'Plan.', output: 'tasks', history: false } } },
      change: { taskQueue: true, start: 'change', steps: { change: { history: false, ...change } } },
    },
  });
const planThen =
  (plan: readonly string[], then: (request: ModelRequest) => SimAnswer) =>
  (request: ModelRequest): SimAnswer =>
    request.messages[0]?.content.startsWith('Plan.') === true ? json(plan) : then(request);

describe('an inner step', () => {
  const MORE = changing({ prompt: 'More?', output: 'tasks' });

  it('may add up to 500 in all', async () => {
    const answers = planThen(list(490), () => json(list(10, 20)));
    const { sim, violations } = await judge(scenario(answers, { workflow: MORE }));
    expect(violations).toEqual([]);
    expect(tasksIn(sim)).toEqual([...list(10, 20), ...list(490)]);
  });

  it('stops for a person where more would be left out, and names what waits', async () => {
    const asked: string[] = [];
    const answers = planThen(list(490), (request) => {
      asked.push(lastWords(request));
      return json(list(11, 20));
    });
    const full = scenario(answers, { workflow: MORE, expects: { status: 'ERROR_PAUSED' } });
    const sim = await simulate(full);
    expect(asked[0]).toContain('at most 10 of them');
    expect(await sim.execution()).toMatchObject({
      reason: 'no_usable_tasks',
      errorMessage: expect.stringContaining(
        'lists 11 tasks, and at most 10 are allowed, because 490 wait already and a list holds 500',
      ),
    });
    expect(tasksIn(sim)).toEqual(list(490));
  });

  it('keeps to its own maxTasks in the same way', async () => {
    const workflow = changing({ prompt: 'More?', output: 'tasks', maxTasks: 2 });
    const answers = planThen(['a'], () => json(['b', 'c', 'd']));
    const sim = await simulate(scenario(answers, { workflow, expects: { status: 'ERROR_PAUSED' } }));
    expect((await sim.execution()).errorMessage).toContain('lists 3 tasks, and at most 2 are allowed.');
  });

  it('that puts the tasks in order leaves those it was not shown, and all words of those it was', async () => {
    const workflow = changing({ prompt: 'Order:\n{pending}', output: 'replace-tasks' });
    const plan = list(120, 900);
    const answers = planThen(plan, ({ messages }) => {
      const shown = [...(messages[0]?.content ?? '').matchAll(/^\d+\. (.*)$/gm)].map(([, task]) => task ?? '');
      const tasks = shown.filter((task) => task.startsWith('task'));
      expect(tasks).toHaveLength(50);
      return json([...tasks.reverse()]);
    });
    const { sim, violations } = await judge(scenario(answers, { workflow }));
    expect(violations).toEqual([]);
    expect(tasksIn(sim)).toEqual([...plan.slice(0, 50).reverse(), ...plan.slice(50)]);
  });

  it('that makes a new list without looking replaces all of it', async () => {
    const workflow = changing({ prompt: 'Anew.', output: 'replace-tasks' });
    const { sim } = await judge(
      scenario(
        planThen(list(120), () => json(['b'])),
        { workflow },
      ),
    );
    expect(tasksIn(sim)).toEqual(['b']);
  });
});
