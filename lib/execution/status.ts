import { conflict } from '../kernel/errors.ts';

/** States of an execution. */
export const STATUSES = [
  'CREATED',
  'RUNNING',
  'PAUSED',
  'WAITING_FOR_PERMISSION',
  'WAITING_FOR_INPUT',
  'WAIT_STEP',
  'ERROR_PAUSED',
  'ITERATION_LIMIT_EXCEEDED',
  'BUDGET_EXCEEDED',
  'COMPLETED',
  'TERMINATED',
  'FAILED',
] as const;
export type Status = (typeof STATUSES)[number];

/** Nothing leads out of these. */
export const TERMINAL: readonly Status[] = ['COMPLETED', 'TERMINATED', 'FAILED'];
export const isTerminal = (status: Status): boolean => TERMINAL.includes(status);

/** Stopped by a fuse or an error: a person mends or extends, then resumes. */
export const STOPPED: readonly Status[] = ['ERROR_PAUSED', 'ITERATION_LIMIT_EXCEEDED', 'BUDGET_EXCEEDED'];

export type StatusEvent =
  | 'start'
  | 'pause'
  | 'resume'
  | 'terminate'
  | 'complete'
  | 'ask_permission'
  | 'ask_input'
  | 'wait'
  | 'answer'
  | 'iteration_limit'
  | 'budget'
  | 'error'
  | 'fail';

const FROM_ANY_LIVE = { terminate: 'TERMINATED' } as const;
const STOPPED_MOVES = { resume: 'RUNNING', ...FROM_ANY_LIVE } as const;
const WAITING_MOVES = { answer: 'RUNNING', pause: 'PAUSED', ...FROM_ANY_LIVE } as const;

/** Every legal move, on one page. What is not here is a 409. */
const MOVES: { readonly [from in Status]: { readonly [event in StatusEvent]?: Status } } = {
  CREATED: { start: 'RUNNING', ...FROM_ANY_LIVE },
  RUNNING: {
    pause: 'PAUSED',
    complete: 'COMPLETED',
    ask_permission: 'WAITING_FOR_PERMISSION',
    ask_input: 'WAITING_FOR_INPUT',
    wait: 'WAIT_STEP',
    iteration_limit: 'ITERATION_LIMIT_EXCEEDED',
    budget: 'BUDGET_EXCEEDED',
    error: 'ERROR_PAUSED',
    fail: 'FAILED',
    ...FROM_ANY_LIVE,
  },
  // A step that was under way when somebody paused may still finish the job, or park: then PAUSED remembers (`pausedFrom`)
  // what the execution waits for, and resume goes there.
  PAUSED: { resume: 'RUNNING', complete: 'COMPLETED', ...FROM_ANY_LIVE },
  WAITING_FOR_PERMISSION: WAITING_MOVES,
  WAITING_FOR_INPUT: WAITING_MOVES,
  WAIT_STEP: WAITING_MOVES,
  ERROR_PAUSED: STOPPED_MOVES,
  ITERATION_LIMIT_EXCEEDED: STOPPED_MOVES,
  BUDGET_EXCEEDED: STOPPED_MOVES,
  COMPLETED: {},
  TERMINATED: {},
  FAILED: {},
};

/** The state after the event, or `undefined` when the move is illegal. */
export const transition = (from: Status, event: StatusEvent): Status | undefined => MOVES[from][event];

/** States from which the event is legal. */
export const sourcesOf = (event: StatusEvent): readonly Status[] =>
  STATUSES.filter((status) => MOVES[status][event] !== undefined);

/** A 409 that names both states. */
export const illegalMove = (from: Status, event: StatusEvent): Error => {
  const wanted = event === 'pause' ? 'PAUSED' : event === 'terminate' ? 'TERMINATED' : 'RUNNING';
  return conflict(
    'illegal_transition',
    `The execution is ${from}: ${event} would make it ${wanted}, which is only possible from ${sourcesOf(event).join(', ')}.`,
    {
      from,
      to: wanted,
    },
  );
};
