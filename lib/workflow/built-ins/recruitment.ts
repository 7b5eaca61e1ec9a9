import type { WorkflowDefinition } from '../definition.ts';
import { BRIEF } from './parts.ts';

/** Reads each CV, compares it with the goals, and writes an invitation or a refusal into `outbox/`. */
export const recruitment: WorkflowDefinition = {
  name: 'recruitment',
  description: 'Reads CVs one by one, decides by the goals, writes an acceptance or a rejection.',
  start: 'find-cvs',
  steps: {
    'find-cvs': {
      kind: 'TOOL',
      tools: ['list_files'],
      instruction: `${BRIEF}\n\nList the files, to see which of them are CVs.`,
      history: true,
      next: { default: 'cvs' },
    },
    cvs: {
      kind: 'TASK_QUEUE',
      instruction:
        `${BRIEF}\n\nFiles:\n{last}\n\n` +
        'Give the path of each file that is a CV. Leave out the description of the job, letters under outbox/ and ' +
        'everything else.',
      next: { default: 'read-cv', COMPLETE: 'done' },
    },
    'read-cv': {
      kind: 'TOOL',
      tools: ['read_file'],
      instruction: 'Read this CV:\n{task}',
      history: false,
      choose:
        `${BRIEF}\n\nThe CV {task}:\n{last}\n\n` +
        'Does this person match what the goals, instructions and constraints ask for? YES: invite. NO: turn down, also if ' +
        'the file could not be read.',
      next: { YES: 'accept', NO: 'reject' },
    },
    accept: {
      kind: 'TOOL',
      tools: ['write_file'],
      instruction:
        `${BRIEF}\n\nThe CV {task}:\n{last}\n\n` +
        'This person is a match. Write a letter of acceptance into a file outbox/accepted-<name>.md: lines "To:" and ' +
        '"Subject:", a blank line, the text, with the next step of the procedure.',
      history: true,
      next: { default: 'cvs' },
    },
    reject: {
      kind: 'TOOL',
      tools: ['write_file'],
      instruction:
        `${BRIEF}\n\nThe CV {task}:\n{last}\n\n` +
        'This person is no match. Write a courteous letter of rejection into a file outbox/rejected-<name>.md: lines "To:" ' +
        'and "Subject:", a blank line, the text. Give no reasons.',
      history: true,
      next: { default: 'cvs' },
    },
    done: { kind: 'END', result: 'CVs decided:\n{completed}\n\nThe letters are in outbox/.' },
  },
  iterations: {},
};
