import type { FieldError } from '../kernel/errors.ts';
import type { WorkflowDefinition } from './definition.ts';
import { edgesOf } from './edges.ts';
import { isComplete, leadingOut, reachable } from './graph.ts';

/** A run keeps the state of each queue in its row, which every step writes. */
const MOST_QUEUES = 5;

/** A TASK_QUEUE is come back to, or all tasks but the first would never be taken. */
const checkQueues = (definition: WorkflowDefinition): FieldError[] => {
  const queues = Object.entries(definition.steps).filter(([, step]) => step.kind === 'TASK_QUEUE');
  const oneWay = queues.filter(([id, step]) => {
    const starts = edgesOf(step).flatMap(([label, target]) => (isComplete(label) ? [] : [target]));
    return !reachable(definition, starts).has(id);
  });
  const received = 'a way that does not come back here';
  const expected = 'a way back for the tasks after the first';
  const many = { field: 'steps', received: `${queues.length} TASK_QUEUE steps`, expected: `at most ${MOST_QUEUES}` };
  return [
    ...oneWay.map(([id]) => ({ field: `steps.${id}.next`, received, expected })),
    ...(queues.length > MOST_QUEUES ? [many] : []),
  ];
};

/** The outer level as a whole: begins somewhere, reaches every step, leaves from every step. */
export const checkGraph = (definition: WorkflowDefinition): FieldError[] => {
  const ids = Object.keys(definition.steps);
  if (!Object.hasOwn(definition.steps, definition.start)) {
    const expected = `the id of a step (${ids.slice(0, 20).join(', ') || 'there are none'})`;
    return [{ field: 'start', received: `"${definition.start}"`, expected }];
  }
  const from = reachable(definition, [definition.start]);
  const out = leadingOut(definition);
  const cut = ids.filter((id) => !from.has(id));
  const caught = ids.filter((id) => !out.has(id));
  return [
    ...cut.map((id) => ({
      field: `steps.${id}`,
      received: 'a step that nothing leads to',
      expected: `a way to it from ${definition.start}`,
    })),
    ...caught.map((id) => ({
      field: `steps.${id}.next`,
      received: 'no way to an END',
      expected: 'a way to a step of kind END from every step',
    })),
    ...checkQueues(definition),
  ];
};
