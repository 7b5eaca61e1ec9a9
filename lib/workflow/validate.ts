import { fieldErrors } from '../agent/field-errors.ts';
import { badRequest, type FieldError } from '../kernel/errors.ts';
import { checkEdges } from './check-edges.ts';
import { checkGraph } from './check-graph.ts';
import { checkIterations } from './check-iterations.ts';
import { checkStep } from './check-steps.ts';
import { type WorkflowDefinition, workflowDefinitionSchema } from './definition.ts';

/** Steps of both levels together. */
export const MOST_STEPS = 60;
/** A definition is one attribute of a row, read again by every run. */
export const LONGEST_DEFINITION = 60 * 1024; // bytes of JSON
const MOST_PROBLEMS = 50;

export const definitionBytes = (definition: unknown): number => Buffer.byteLength(JSON.stringify(definition) ?? '');

const checkSize = (definition: WorkflowDefinition): FieldError[] => {
  const inner = Object.values(definition.iterations).reduce((sum, { steps }) => sum + Object.keys(steps).length, 0);
  const steps = Object.keys(definition.steps).length + inner;
  const bytes = definitionBytes(definition);
  return [
    ...(steps <= MOST_STEPS
      ? []
      : [{ field: 'steps', received: `${steps} steps, inner ones included`, expected: `at most ${MOST_STEPS}` }]),
    ...(bytes <= LONGEST_DEFINITION
      ? []
      : [{ field: 'body', received: `${bytes} bytes of JSON`, expected: `at most ${LONGEST_DEFINITION} bytes` }]),
  ];
};

/**
 * What keeps a definition from being run, each with its path (`steps.ask.next`), what is there and what was expected.
 * Empty: every outcome of every step leads somewhere, every step can be reached, and from every step there is a way out.
 * @param tools names of the tools there are; without it they are not checked
 */
export const problemsOf = (definition: WorkflowDefinition, tools?: readonly string[]): FieldError[] => {
  const tooLarge = checkSize(definition);
  if (tooLarge.length > 0) return tooLarge;
  const steps = Object.entries(definition.steps);
  return [
    ...steps.flatMap(([id, step]) => checkStep(definition, id, step, tools)),
    ...steps.flatMap(([id, step]) => checkEdges(definition, id, step)),
    ...checkIterations(definition),
    ...checkGraph(definition),
  ].slice(0, MOST_PROBLEMS);
};

const refused = (errors: readonly FieldError[]): Error => {
  const [first] = errors;
  const rest = errors.length > 1 ? ` And ${errors.length - 1} more.` : '';
  const message = `${first?.field}: received ${first?.received}, expected ${first?.expected}.${rest}`;
  return badRequest(message, errors, 'invalid_workflow');
};

/**
 * A definition that can be stored and run, defaults filled in.
 * @param tools names of the tools there are; without it they are not checked
 * @throws AppError 400 `invalid_workflow` with all that is wrong
 */
export const checkDefinition = (value: unknown, tools?: readonly string[]): WorkflowDefinition => {
  const parsed = workflowDefinitionSchema.safeParse(value);
  if (!parsed.success) throw refused(fieldErrors(parsed.error, value).slice(0, MOST_PROBLEMS));
  const problems = problemsOf(parsed.data, tools);
  if (problems.length > 0) throw refused(problems);
  return parsed.data;
};
