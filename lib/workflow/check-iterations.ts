import type { FieldError } from '../kernel/errors.ts';
import { checkProse, hasTaskStep } from './check-steps.ts';
import type { Iteration, IterationStep, WorkflowDefinition } from './definition.ts';

/** The way from the first inner step, each once, and the step whose `next` leads back into it. */
const wayOf = (iteration: Iteration): { readonly seen: ReadonlySet<string>; readonly loopsAt: string | undefined } => {
  const seen = new Set<string>();
  let at: string | undefined = iteration.start;
  let last: string | undefined;
  while (at !== undefined && Object.hasOwn(iteration.steps, at)) {
    if (seen.has(at)) return { seen, loopsAt: last };
    seen.add(at);
    last = at;
    at = iteration.steps[at]?.next;
  }
  return { seen, loopsAt: undefined };
};

const checkWay = (field: string, iteration: Iteration): FieldError[] => {
  const problems: FieldError[] = [];
  const isStep = (id: string): boolean => Object.hasOwn(iteration.steps, id);
  const expected = 'the id of a step of this iteration';
  if (!isStep(iteration.start)) problems.push({ field: `${field}.start`, received: `"${iteration.start}"`, expected });
  for (const [id, { next }] of Object.entries(iteration.steps)) {
    if (next !== undefined && !isStep(next)) {
      problems.push({ field: `${field}.steps.${id}.next`, received: `"${next}"`, expected });
    }
  }
  const { seen, loopsAt } = wayOf(iteration);
  if (loopsAt !== undefined) {
    const received = 'a way back into the iteration';
    const left = 'a way out: the last inner step has no next, and the edge default of the outer step comes back';
    problems.push({ field: `${field}.steps.${loopsAt}.next`, received, expected: left });
  }
  if (isStep(iteration.start)) {
    for (const id of Object.keys(iteration.steps).filter((one) => !seen.has(one))) {
      const received = 'a step that nothing leads to';
      problems.push({ field: `${field}.steps.${id}`, received, expected: `a way to it from ${iteration.start}` });
    }
  }
  return problems;
};

const checkInner = (field: string, iteration: Iteration, inner: IterationStep, withTasks: boolean): FieldError[] => {
  const problems = [
    ...checkProse(`${field}.prompt`, inner.prompt, withTasks),
    ...checkProse(`${field}.completionPrompt`, inner.completionPrompt, withTasks),
  ];
  if (inner.output !== 'tools' && !iteration.taskQueue) {
    const expected = 'tools, or taskQueue: true in the iteration';
    problems.push({ field: `${field}.output`, received: `"${inner.output}"`, expected });
  }
  if (inner.output === 'tools' && inner.maxTasks !== undefined) {
    const expected = 'nothing where the output is tools';
    problems.push({ field: `${field}.maxTasks`, received: `number ${inner.maxTasks}`, expected });
  }
  return problems;
};

/** Every iteration: used by a step, in one piece, left at its end, tasks only where there is a queue of them. */
export const checkIterations = (definition: WorkflowDefinition): FieldError[] =>
  Object.entries(definition.iterations).flatMap(([id, iteration]) => {
    const field = `iterations.${id}`;
    const used = Object.values(definition.steps).some((step) => step.kind === 'ITERATION' && step.iteration === id);
    const idle = {
      field,
      received: 'an iteration that no step uses',
      expected: 'a step of kind ITERATION that names it',
    };
    const withTasks = iteration.taskQueue || hasTaskStep(definition);
    return [
      ...(used ? [] : [idle]),
      ...checkWay(field, iteration),
      ...Object.entries(iteration.steps).flatMap(([inner, step]) =>
        checkInner(`${field}.steps.${inner}`, iteration, step, withTasks),
      ),
    ];
  });
