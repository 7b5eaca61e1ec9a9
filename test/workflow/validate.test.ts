import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError, type FieldError } from '../../lib/kernel/errors.ts';
import { edgesOf } from '../../lib/workflow/edges.ts';
import { checkDefinition, LONGEST_DEFINITION, problemsOf } from '../../lib/workflow/validate.ts';
import { always } from './always.ts';
import { anyGraph, everyKind, type Loose, likelyGraph, parsed, withSteps } from './definitions.ts';

const problemsAfter = (change: (definition: Loose) => void): readonly FieldError[] => {
  const definition = everyKind();
  change(definition);
  return problemsOf(parsed(definition));
};

const refusal = (value: unknown): AppError => {
  try {
    checkDefinition(value);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('It was accepted.');
};

const done = { kind: 'END' };

describe('a definition', () => {
  it('with every kind of step is good, defaults filled in', () => {
    const definition = checkDefinition(everyKind());
    expect(definition.iterations.tasks?.steps.do).toMatchObject({ history: true });
    expect(definition.description).toBe('');
    expect(problemsOf(definition, ['http_request'])).toEqual([]);
  });

  it('is refused as a whole, with each place that is wrong', () => {
    const error = refusal({ name: 'No Good', start: 'a', steps: { a: { kind: 'DANCE' } }, extra: 1 });
    expect(error).toMatchObject({ status: 400, code: 'invalid_workflow' });
    const fields = (error.details.errors as readonly FieldError[]).map(({ field }) => field);
    expect(fields.toSorted()).toEqual(['extra', 'name', 'steps.a.kind']);
    for (const value of [null, 1, 'x', [], undefined]) expect(refusal(value).code).toBe('invalid_workflow');
  });

  it('says in one sentence what is wrong first, and how much more', () => {
    const error = refusal({ name: 'x', start: 'b', steps: { a: { kind: 'WAIT', seconds: 1, next: { yes: 'c' } } } });
    expect(error.message).toBe('steps.a.next.yes: received "c", expected the id of a step. And 3 more.');
  });

  it.each<[string, (definition: Loose) => void, string, RegExp]>([
    ['start', (d) => (d.start = 'none'), 'start', /id of a step/],
    ['a target', (d) => (d.steps.ask.next.YES = 'none'), 'steps.ask.next.YES', /id of a step/],
    ['a target of the prototype', (d) => (d.steps.ask.next.YES = 'constructor'), 'steps.ask.next.YES', /id of a step/],
    ['no default of an ITERATION', (d) => delete d.steps.plan.next.default, 'steps.plan.next', /edge default/],
    ['no default of a TASK_QUEUE', (d) => delete d.steps.queue.next.default, 'steps.queue.next', /edge default/],
    ['no default of a WAIT', (d) => (d.steps.pause.next = {}), 'steps.pause.next', /edge default/],
    ['no default of a TOOL', (d) => delete d.steps.look.choose, 'steps.look.next', /edge default/],
    ['one label of a choice', (d) => delete d.steps.look.next.bad, 'steps.look.next', /two labels/],
    [
      'default as a label',
      (d) => (d.steps.weigh.next = { light: 'queue', DEFAULT: 'done' }),
      'steps.weigh.next',
      /two/,
    ],
    ['YES alone', (d) => delete d.steps.ask.next.NO, 'steps.ask.next', /edge for NO, or default/],
    ['neither YES nor NO', (d) => (d.steps.ask.next = {}), 'steps.ask.next', /edge for YES and NO, or default/],
    ['a boolean without NO', (d) => delete d.steps.check.next.default, 'steps.check.next', /edge for NO/],
    [
      'a text without default',
      (d) => (d.steps.check = textual({ one: 'queue', two: 'weigh' })),
      'steps.check.next',
      /edge default/,
    ],
    ['a label that never comes', (d) => (d.steps.pause.next.YES = 'done'), 'steps.pause.next', /only default/],
    ['a label of another kind', (d) => (d.steps.plan.next.YES = 'done'), 'steps.plan.next', /only COMPLETE, default/],
    ['a label twice', (d) => (d.steps.weigh.next.Heavy = 'done'), 'steps.weigh.next', /differ by more than case/],
    ['a label twice, blanks', (d) => (d.steps.weigh.next['heavy '] = 'done'), 'steps.weigh.next', /differ by more/],
    ['question and expression', (d) => (d.steps.check.question = 'x'), 'steps.check', /one of question and expression/],
    ['neither', (d) => delete d.steps.weigh.question, 'steps.weigh', /one of question and expression/],
    ['an expression that does not parse', (d) => (d.steps.check.expression = '1 +'), 'steps.check.expression', /CEL/],
    ['an unknown variable', (d) => (d.steps.check.expression = 'lst == ""'), 'steps.check.expression', /CEL/],
    ['a number', (d) => (d.steps.check.expression = '1 + 1'), 'steps.check.expression', /CEL/],
    ['a regular expression', (d) => (d.steps.check.expression = 'last.matches("x")'), 'steps.check.expression', /CEL/],
    ['an unknown iteration', (d) => (d.steps.plan.iteration = 'none'), 'steps.plan.iteration', /id of an iteration/],
    ['an idle iteration', (d) => (d.iterations.idle = d.iterations.tasks), 'iterations.idle', /names it/],
    ['no inner start', (d) => (d.iterations.tasks.start = 'none'), 'iterations.tasks.start', /this iteration/],
    [
      'no inner target',
      (d) => (d.iterations.tasks.steps.do.next = 'no'),
      'iterations.tasks.steps.do.next',
      /this iter/,
    ],
    [
      'an inner step alone',
      (d) => delete d.iterations.tasks.steps.do.next,
      'iterations.tasks.steps.more',
      /a way to it/,
    ],
    [
      'an inner ring',
      (d) => (d.iterations.tasks.steps.sort.next = 'do'),
      'iterations.tasks.steps.sort.next',
      /way out/,
    ],
    [
      'maxTasks of tools',
      (d) => (d.iterations.tasks.steps.do.maxTasks = 1),
      'iterations.tasks.steps.do.maxTasks',
      /not/,
    ],
    ['a placeholder', (d) => (d.steps.queue.instruction = '{goal}'), 'steps.queue.instruction', /\{goals\}/],
    [
      'an inner placeholder',
      (d) => (d.iterations.tasks.steps.do.prompt = '{x}'),
      'iterations.tasks.steps.do.prompt',
      /one of/,
    ],
    ['a tool twice', (d) => d.steps.look.tools.push('http_request'), 'steps.look.tools[1]', /each tool once/],
    ['finish as a tool', (d) => d.steps.look.tools.push('finish'), 'steps.look.tools[1]', /END/],
  ])('with %s is refused', (_, change, field, expected) => {
    const problems = problemsAfter(change);
    expect(problems.map((problem) => problem.field)).toContain(field);
    expect(problems.find((problem) => problem.field === field)?.expected).toMatch(expected);
  });

  it('may use {{braces}} that are no placeholders, and JSON', () => {
    expect(problemsAfter((d) => (d.steps.queue.instruction = 'Like {{x}} or {"task": 1} or { last }.'))).toEqual([]);
  });

  it('needs a queue where it speaks of tasks', () => {
    const tool = { kind: 'TOOL', tools: ['think'], instruction: 'Do {task}.', next: { default: 'done' } };
    expect(problemsOf(withSteps({ tool }))).toMatchObject([{ field: 'steps.tool.instruction' }]);
    const step = { kind: 'ITERATION', iteration: 'i', next: { default: 'step', COMPLETE: 'done' } };
    const inner = (steps: object, taskQueue = false) => ({ i: { taskQueue, start: 'a', steps } });
    const speaks = { a: { prompt: 'Do {pending}.', output: 'tools' } };
    const adds = { a: { prompt: 'Do.', output: 'tasks' } };
    expect(problemsOf(withSteps({ step }, inner(speaks)))).toMatchObject([{ field: 'iterations.i.steps.a.prompt' }]);
    expect(problemsOf(withSteps({ step }, inner(adds)))).toMatchObject([{ field: 'iterations.i.steps.a.output' }]);
    expect(problemsOf(withSteps({ step }, inner(speaks, true)))).toEqual([]);
    expect(problemsOf(withSteps({ step }, inner(adds, true)))).toEqual([]);
    const queue = { kind: 'TASK_QUEUE', instruction: 'x', next: { default: 'step', COMPLETE: 'done' } };
    const within = { kind: 'ITERATION', iteration: 'i', next: { default: 'step', COMPLETE: 'queue' } };
    expect(problemsOf(withSteps({ queue, step: within }, inner(speaks)))).toEqual([]);
  });

  it('comes back to a TASK_QUEUE, and has few of them', () => {
    const once = { kind: 'TASK_QUEUE', instruction: 'x', next: { default: 'done', COMPLETE: 'done' } };
    expect(problemsOf(withSteps({ once }))).toMatchObject([
      { field: 'steps.once.next', expected: expect.stringMatching(/way back/) },
    ]);
    const chain = Object.fromEntries(
      Array.from({ length: 6 }, (_, i) => [
        `q${i}`,
        { kind: 'TASK_QUEUE', instruction: 'x', next: { default: `q${i}`, COMPLETE: i === 5 ? 'done' : `q${i + 1}` } },
      ]),
    );
    expect(problemsOf(withSteps(chain))).toEqual([
      { field: 'steps', received: '6 TASK_QUEUE steps', expected: 'at most 5' },
    ]);
  });

  it('has a way out of every step, not only of the first', () => {
    const stuck = {
      ask: { kind: 'ASK_PERMISSION', question: 'x', next: { YES: 'done', NO: 'a' } },
      a: { kind: 'WAIT', seconds: 1, next: { default: 'b' } },
      b: { kind: 'WAIT', seconds: 1, next: { default: 'a' } },
    };
    expect(problemsOf(withSteps(stuck)).map(({ field }) => field)).toEqual(['steps.a.next', 'steps.b.next']);
    const ring = { kind: 'ITERATION', iteration: 'i', next: { default: 'ring' } };
    const iterations = { i: { start: 'a', steps: { a: { prompt: 'x', output: 'tools' } } } };
    const problems = problemsOf(parsed({ name: 'x', start: 'ring', steps: { ring }, iterations }));
    expect(problems).toMatchObject([{ field: 'steps.ring.next', received: 'no way to an END' }]);
    expect(problemsOf(parsed({ name: 'x', start: 'a', steps: {} }))).toMatchObject([{ field: 'start' }]);
  });

  it('has at most 60 steps on both levels together, and 60 KB', () => {
    const chain = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, i) => [
          `s${i}`,
          { kind: 'WAIT', seconds: 1, next: { default: i + 1 === count ? 'done' : `s${i + 1}` } },
        ]),
      );
    expect(problemsOf(withSteps(chain(59)))).toEqual([]);
    expect(problemsOf(withSteps(chain(60)))).toMatchObject([
      { field: 'steps', received: expect.stringMatching(/^61 steps/) },
    ]);
    const wordy = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, i) => [
          `s${i}`,
          {
            kind: 'ASK_PERMISSION',
            question: 'ü'.repeat(3_900),
            next: { default: i + 1 === count ? 'done' : `s${i + 1}` },
          },
        ]),
      );
    expect(problemsOf(withSteps(wordy(7)))).toEqual([]);
    expect(problemsOf(withSteps(wordy(8)))).toMatchObject([
      { field: 'body', expected: `at most ${LONGEST_DEFINITION} bytes` },
    ]);
    const many = Object.fromEntries(Array.from({ length: 41 }, (_, i) => [`l${i}`, 'done']));
    const error = refusal({
      name: 'x',
      start: 'a',
      steps: { a: { kind: 'CONDITION', question: 'x', next: many }, done },
    });
    expect(error.details.errors).toMatchObject([{ field: 'steps.a.next', expected: 'at most 40 edges' }]);
  });
});

const textual = (next: object) => ({ kind: 'CONDITION', expression: 'last', next });

/** Brute force: whether an END can be reached from a step. */
const leaves = (
  definition: ReturnType<typeof parsed>,
  from: string,
  seen: ReadonlySet<string> = new Set(),
): boolean => {
  const step = definition.steps[from];
  if (step === undefined || seen.has(from)) return false;
  if (step.kind === 'END') return true;
  return edgesOf(step).some(([, target]) => leaves(definition, target, new Set([...seen, from])));
};

describe('any graph', () => {
  it('is judged without a crash, the same each time', () => {
    always(
      fc.property(anyGraph, (definition) => {
        const problems = problemsOf(definition);
        expect(problemsOf(structuredClone(definition))).toEqual(problems);
        for (const { field, received, expected } of problems)
          expect(`${field}${received}${expected}`).not.toMatch(/undefined|NaN/);
      }),
      { numRuns: 1_000 },
    );
  });

  it('that is accepted has a way out of every step and leaves none aside', () => {
    let accepted = 0;
    always(
      fc.property(likelyGraph, (definition) => {
        const good = problemsOf(definition).length === 0;
        const all = Object.keys(definition.steps);
        const out = all.every((id) => leaves(definition, id));
        if (good) expect(out).toBe(true);
        if (!out) expect(good).toBe(false);
        accepted += good ? 1 : 0;
      }),
      { numRuns: 1_000 },
    );
    expect(accepted).toBeGreaterThan(50);
  });
});
