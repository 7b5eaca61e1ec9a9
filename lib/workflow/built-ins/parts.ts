import type { Iteration } from '../definition.ts';

/** What an agent was told to do; the head of most prompts. */
export const BRIEF = 'Goals:\n{goals}\n\nInstructions:\n{instructions}\n\nConstraints:\n{constraints}';

/** Makes the first tasks of a run. */
export const initialTasks: Iteration = {
  taskQueue: true,
  start: 'plan',
  steps: {
    plan: {
      prompt:
        `You plan the work of an autonomous agent.\n\n${BRIEF}\n\n` +
        'Break the goals down into the tasks that reach them: at most 3, in the order to do them, each one sentence that can ' +
        'be acted on without reading the others. Do not carry anything out yet.',
      output: 'tasks',
      history: false,
      maxTasks: 3,
    },
  },
};

/** What a run of tasks ends with. */
export const TASKS_DONE = 'Tasks done:\n{completed}\n\nLast result:\n{last}';
