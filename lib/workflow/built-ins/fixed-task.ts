import type { WorkflowDefinition } from '../definition.ts';
import { BRIEF, initialTasks, TASKS_DONE } from './parts.ts';

/** Plans up to three tasks and works them off; the list does not change any more. */
export const fixedTask: WorkflowDefinition = {
  name: 'fixed-task',
  description: 'Plans tasks once and works them off in their order.',
  start: 'plan',
  steps: {
    plan: { kind: 'ITERATION', iteration: 'initial-tasks', next: { default: 'work', COMPLETE: 'done' } },
    work: { kind: 'ITERATION', iteration: 'fixed-tasks', next: { default: 'work', COMPLETE: 'done' } },
    done: { kind: 'END', result: TASKS_DONE },
  },
  iterations: {
    'initial-tasks': initialTasks,
    'fixed-tasks': {
      taskQueue: true,
      start: 'do',
      steps: {
        do: {
          prompt:
            `You carry out one task of a larger piece of work.\n\n${BRIEF}\n\nYour task now:\n{task}\n\n` +
            'Tasks done so far:\n{completed}\n\nTasks that come later:\n{pending}\n\n' +
            'Carry out your task, and only yours, with the tools that you have.',
          output: 'tools',
          history: true,
        },
      },
    },
  },
};
