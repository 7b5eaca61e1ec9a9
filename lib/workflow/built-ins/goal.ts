import type { WorkflowDefinition } from '../definition.ts';

/**
 * One loop: the model works towards the goals until it calls `finish`. The engine runs it on a path of its own, with its
 * own prompt; this is what that path does, told as data.
 */
export const goal: WorkflowDefinition = {
  name: 'goal',
  description: 'Works towards the goals, one reply at a time, until the model says that they are reached.',
  start: 'think',
  steps: {
    think: { kind: 'ITERATION', iteration: 'goal', next: { default: 'think', COMPLETE: 'done' } },
    done: { kind: 'END' },
  },
  iterations: {
    goal: {
      taskQueue: false,
      start: 'think',
      steps: {
        think: {
          prompt:
            'Work on your own towards the goals, one step at a time.\n\nGoals:\n{goals}\n\nInstructions:\n{instructions}\n\n' +
            'Constraints:\n{constraints}\n\nCall `finish` with the result when the goals are reached.',
          output: 'tools',
          history: true,
        },
      },
    },
  },
};
