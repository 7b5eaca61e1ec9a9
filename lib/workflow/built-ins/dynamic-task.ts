import type { WorkflowDefinition } from '../definition.ts';
import { BRIEF, initialTasks, TASKS_DONE } from './parts.ts';

/** Plans up to three tasks; after each task, one new task may be added and what is left is put in order again. */
export const dynamicTask: WorkflowDefinition = {
  name: 'dynamic-task',
  description: 'Plans tasks and works them off; after each it may add one and puts the others in order again.',
  start: 'plan',
  steps: {
    plan: { kind: 'ITERATION', iteration: 'initial-tasks', next: { default: 'work', COMPLETE: 'done' } },
    work: { kind: 'ITERATION', iteration: 'dynamic-tasks', next: { default: 'work', COMPLETE: 'done' } },
    done: { kind: 'END', result: TASKS_DONE },
  },
  iterations: {
    'initial-tasks': initialTasks,
    'dynamic-tasks': {
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
          next: 'create',
        },
        create: {
          prompt:
            `You keep the list of tasks of an autonomous agent.\n\n${BRIEF}\n\nTasks done so far:\n{completed}\n\n` +
            'Result of the latest one:\n{last}\n\nTasks that are waiting:\n{pending}\n\n' +
            'If the latest result shows that something is needed to reach the goals which no waiting task covers, give that ' +
            'one new task. Otherwise give an empty list.',
          output: 'tasks',
          history: false,
          maxTasks: 1,
          next: 'reprioritise',
        },
        reprioritise: {
          prompt:
            `You keep the list of tasks of an autonomous agent.\n\n${BRIEF}\n\nTasks done so far:\n{completed}\n\n` +
            'Tasks that are waiting:\n{pending}\n\n' +
            'Give the waiting tasks in the best order to do them. Leave out those that are done or no longer needed, and add ' +
            'none. If none is left, give an empty list.',
          output: 'replace-tasks',
          history: false,
        },
      },
    },
  },
};
