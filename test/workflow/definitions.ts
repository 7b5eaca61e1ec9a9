import * as fc from 'fast-check';
import { type WorkflowDefinition, workflowDefinitionSchema } from '../../lib/workflow/definition.ts';

/** One of each kind of step, all outcomes led somewhere. Tests take it apart. */
export const everyKind = (): Loose => ({
  name: 'every-kind',
  start: 'plan',
  steps: {
    plan: { kind: 'ITERATION', iteration: 'tasks', next: { default: 'plan', COMPLETE: 'queue' } },
    queue: { kind: 'TASK_QUEUE', instruction: 'Make tasks of {last}.', next: { default: 'look', COMPLETE: 'done' } },
    look: {
      kind: 'TOOL',
      tools: ['http_request'],
      instruction: 'Look at {task}.',
      choose: 'Is it good?',
      next: { good: 'ask', bad: 'pause' },
    },
    ask: { kind: 'ASK_PERMISSION', question: 'Go on with {task}?', next: { YES: 'check', NO: 'queue' } },
    check: { kind: 'CONDITION', expression: 'last.contains("x")', next: { YES: 'weigh', default: 'queue' } },
    weigh: { kind: 'CONDITION', question: 'How heavy?', next: { light: 'queue', heavy: 'pause', default: 'done' } },
    pause: { kind: 'WAIT', seconds: 60, next: { default: 'queue' } },
    done: { kind: 'END', result: 'Done: {completed}' },
  },
  iterations: {
    tasks: {
      taskQueue: true,
      start: 'do',
      steps: {
        do: { prompt: 'Do {task}.', output: 'tools', next: 'more' },
        more: { prompt: 'More for {goals}?', output: 'tasks', maxTasks: 1, next: 'sort' },
        sort: { prompt: 'Sort {pending}.', output: 'replace-tasks' },
      },
    },
  },
});

/** A definition as somebody may send it: any part can be changed or be missing. */
// biome-ignore lint/suspicious/noExplicitAny: tests break it in every way
export type Loose = any;

export const parsed = (value: unknown): WorkflowDefinition => workflowDefinitionSchema.parse(value);

/** The smallest definition with these steps besides `done`, an END. */
export const withSteps = (steps: object, iterations: object = {}): WorkflowDefinition => {
  const [start = 'done'] = Object.keys(steps);
  return parsed({ name: 'small', start, steps: { ...steps, done: { kind: 'END' } }, iterations });
};

const ids = ['a', 'b', 'c', 'd', 'e', 'constructor'];
const anyId = fc.constantFrom(...ids, 'nowhere');
const anyLabel = fc.constantFrom('default', 'Default', 'COMPLETE', 'complete', 'YES', 'yes', 'NO', 'maybe');
const edges = fc.dictionary(anyLabel, anyId, { maxKeys: 4 });
const prose = fc.constantFrom('Do it.', 'Do {task}.', 'Reach {goals}, {last}.', '{unknown}', '{{task}} {pending}');

const anyStep = fc.oneof(
  fc.record({ kind: fc.constant('ITERATION'), iteration: anyId, next: edges }),
  fc.record(
    { kind: fc.constant('TOOL'), tools: fc.constant(['think']), instruction: prose, choose: prose, next: edges },
    { requiredKeys: ['kind', 'tools', 'instruction', 'next'] },
  ),
  fc.record({ kind: fc.constant('WAIT'), seconds: fc.constant(1), next: edges }),
  fc.record({ kind: fc.constant('TASK_QUEUE'), instruction: prose, next: edges }),
  fc.record({ kind: fc.constant('ASK_PERMISSION'), question: prose, next: edges }),
  fc.record(
    {
      kind: fc.constant('CONDITION'),
      question: prose,
      expression: fc.constantFrom('last == "x"', 'last', 'nope', '1 +'),
      next: edges,
    },
    { requiredKeys: ['kind', 'next'] },
  ),
  fc.constant({ kind: 'END' }),
);

const anyInner = fc.record(
  { prompt: prose, output: fc.constantFrom('tools', 'tasks', 'replace-tasks'), next: anyId, maxTasks: fc.constant(2) },
  { requiredKeys: ['prompt', 'output'] },
);
const anyIteration = fc.record({
  taskQueue: fc.boolean(),
  start: anyId,
  steps: fc.dictionary(fc.constantFrom(...ids), anyInner, { maxKeys: 3 }),
});

/** Graphs that fit the schema and mean nothing. */
export const anyGraph = fc
  .record({
    name: fc.constant('any'),
    start: anyId,
    steps: fc.dictionary(fc.constantFrom(...ids), anyStep, { maxKeys: 6 }),
    iterations: fc.dictionary(fc.constantFrom(...ids), anyIteration, { maxKeys: 2 }),
  })
  .map(parsed);

interface Sound {
  readonly kind: string;
  readonly next: { readonly [label: string]: string };
  readonly [member: string]: unknown;
}

/** Steps that have what their kind needs, joined at random: many of these are good. */
const soundStep = (target: fc.Arbitrary<string>): fc.Arbitrary<Sound> =>
  fc.oneof(
    fc
      .tuple(target, target)
      .map(([a, b]) => ({ kind: 'ITERATION', iteration: 'work', next: { default: a, COMPLETE: b } })),
    target.map((a) => ({ kind: 'TOOL', tools: ['think'], instruction: 'Think.', next: { default: a } })),
    target.map((a) => ({ kind: 'WAIT', seconds: 5, next: { default: a } })),
    fc
      .tuple(target, target)
      .map(([a, b]) => ({ kind: 'TASK_QUEUE', instruction: 'x', next: { default: a, COMPLETE: b } })),
    fc.tuple(target, target).map(([a, b]) => ({ kind: 'ASK_PERMISSION', question: 'x', next: { YES: a, NO: b } })),
    fc
      .tuple(target, target)
      .map(([a, b]) => ({ kind: 'CONDITION', expression: 'last == ""', next: { YES: a, NO: b } })),
    fc.tuple(target, target).map(([a, b]) => ({ kind: 'CONDITION', question: 'x', next: { one: a, two: b } })),
  );

const innerSteps = {
  do: { prompt: 'Do {task}.', output: 'tools', next: 'sort' },
  sort: { prompt: 'Sort.', output: 'replace-tasks' },
};

/** Each step but the last leads to the one behind it by one of its edges, so that all are reached; the rest is chance. */
export const likelyGraph = fc
  .integer({ min: 1, max: 6 })
  .chain((count) => {
    const names = Array.from({ length: count }, (_, i) => `s${i}`);
    const target = fc.constantFrom(...names, 'end');
    return fc.tuple(...names.map(() => fc.tuple(soundStep(target), fc.nat()))).map((steps) =>
      names.map((name, i) => {
        const [step, pick] = steps[i] ?? [];
        const next: { [label: string]: string } = { ...(step?.next ?? {}) };
        const labels = Object.keys(next);
        const label = labels[(pick ?? 0) % labels.length];
        if (label !== undefined) next[label] = names[i + 1] ?? 'end';
        return [name, { ...step, next }] as const;
      }),
    );
  })
  .map((steps) => {
    const used = steps.some(([, step]) => 'kind' in step && step.kind === 'ITERATION');
    const iterations = used ? { work: { taskQueue: true, start: 'do', steps: innerSteps } } : {};
    return parsed({
      name: 'likely',
      start: 's0',
      steps: { ...Object.fromEntries(steps), end: { kind: 'END' } },
      iterations,
    });
  });
