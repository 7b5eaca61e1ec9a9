import type { FieldError } from '../kernel/errors.ts';
import type { WorkflowDefinition, WorkflowStep } from './definition.ts';
import { checkExpression } from './expression.ts';
import { bracedNames, PLACEHOLDERS } from './render.ts';

/** Placeholders that only have a meaning where there are tasks. */
const OF_TASKS: readonly string[] = ['task', 'pending', 'completed'];

/**
 * A text with placeholders: each is one that is there, and tasks are only spoken of where there are some.
 * @param withTasks whether a task queue is at work there
 */
export const checkProse = (field: string, text: string | undefined, withTasks: boolean): FieldError[] => {
  if (text === undefined) return [];
  const names = new Set(bracedNames(text));
  const unknown = [...names].filter((name) => !PLACEHOLDERS.some((known) => known === name));
  const listed = PLACEHOLDERS.map((name) => `{${name}}`).join(' ');
  const idle = withTasks ? [] : [...names].filter((name) => OF_TASKS.includes(name));
  return [
    ...unknown.map((name) => ({
      field,
      received: `the placeholder {${name}}`,
      expected: `one of ${listed}; {{${name}}} stands for the text {${name}} itself`,
    })),
    ...idle.map((name) => ({
      field,
      received: `the placeholder {${name}}`,
      expected: 'a task queue to take it from: taskQueue of the iteration, or a TASK_QUEUE step',
    })),
  ];
};

/** Whether a TASK_QUEUE step is there: its tasks are seen by every step. */
export const hasTaskStep = (definition: WorkflowDefinition): boolean =>
  Object.values(definition.steps).some((step) => step.kind === 'TASK_QUEUE');

const hasTasks = (definition: WorkflowDefinition): boolean =>
  hasTaskStep(definition) || Object.values(definition.iterations).some(({ taskQueue }) => taskQueue);

const proseOf = (step: WorkflowStep): { readonly [field: string]: string | undefined } => {
  switch (step.kind) {
    case 'TOOL':
      return { instruction: step.instruction, completionPrompt: step.completionPrompt, choose: step.choose };
    case 'TASK_QUEUE':
      return { instruction: step.instruction };
    case 'ASK_PERMISSION':
    case 'CONDITION':
      return { question: step.question };
    case 'END':
      return { result: step.result };
    default:
      return {};
  }
};

const checkTools = (field: string, names: readonly string[], known: readonly string[] | undefined): FieldError[] =>
  names.flatMap((name, index): FieldError[] => {
    const at = `${field}[${index}]`;
    if (name === 'finish') {
      return [{ field: at, received: '"finish"', expected: 'a tool that does something: END ends a run' }];
    }
    if (names.indexOf(name) !== index) return [{ field: at, received: `"${name}" again`, expected: 'each tool once' }];
    if (known === undefined || known.includes(name)) return [];
    const expected = `one of ${known.filter((tool) => tool !== 'finish').join(', ')}`;
    return [{ field: at, received: `"${name.slice(0, 60)}"`, expected }];
  });

const checkCondition = (field: string, step: Extract<WorkflowStep, { kind: 'CONDITION' }>): FieldError[] => {
  const { question, expression } = step;
  if ((question === undefined) === (expression === undefined)) {
    const received = question === undefined ? 'neither question nor expression' : 'question and expression';
    return [{ field, received, expected: 'one of question and expression' }];
  }
  if (expression === undefined) return [];
  const checked = checkExpression(expression);
  if (checked.ok) return [];
  const received = `an expression that cannot be used: ${checked.problem}`;
  return [{ field: `${field}.expression`, received, expected: 'a CEL expression over last, task, input and json' }];
};

/** One step by itself, its edges aside. @param tools names of the tools there are; without it they are not checked */
export const checkStep = (
  definition: WorkflowDefinition,
  stepId: string,
  step: WorkflowStep,
  tools: readonly string[] | undefined,
): FieldError[] => {
  const field = `steps.${stepId}`;
  const problems = Object.entries(proseOf(step)).flatMap(([name, text]) =>
    checkProse(`${field}.${name}`, text, hasTasks(definition)),
  );
  if (step.kind === 'TOOL') problems.push(...checkTools(`${field}.tools`, step.tools, tools));
  if (step.kind === 'CONDITION') problems.push(...checkCondition(field, step));
  if (step.kind === 'ITERATION' && !Object.hasOwn(definition.iterations, step.iteration)) {
    const there = Object.keys(definition.iterations).join(', ') || 'there are none';
    const received = `"${step.iteration}"`;
    problems.push({ field: `${field}.iteration`, received, expected: `the id of an iteration (${there})` });
  }
  return problems;
};
