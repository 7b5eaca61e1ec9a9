import type { WorkflowDefinition } from '../definition.ts';
import { BRIEF } from './parts.ts';

/** Specification, tests, code; a person looks at the code, and it is written again until they agree. */
export const supercoder: WorkflowDefinition = {
  name: 'supercoder',
  description: 'Writes a specification, tests and code, and mends the code until a person agrees.',
  start: 'write-spec',
  steps: {
    'write-spec': {
      kind: 'TOOL',
      tools: ['write_file'],
      instruction:
        `You write software.\n\n${BRIEF}\n\n` +
        'Write the specification into spec.md: what the program does, its parts and files, how they work together, what ' +
        'can go wrong. No code yet.',
      history: true,
      next: { default: 'write-tests' },
    },
    'write-tests': {
      kind: 'TOOL',
      tools: ['write_file'],
      instruction:
        `You write software.\n\n${BRIEF}\n\n` +
        'Write the tests for spec.md, which you wrote above, into one file under tests/, in the language of the program.',
      history: true,
      next: { default: 'write-code' },
    },
    'write-code': {
      kind: 'ITERATION',
      iteration: 'coding',
      next: { default: 'write-code', COMPLETE: 'review' },
    },
    review: {
      kind: 'ASK_PERMISSION',
      question: 'Is the code good as it is? Say with NO what has to change.\n\n{last}',
      next: { YES: 'done', NO: 'write-code' },
    },
    done: { kind: 'END' },
  },
  iterations: {
    coding: {
      taskQueue: false,
      start: 'code',
      steps: {
        code: {
          prompt:
            `You write software.\n\n${BRIEF}\n\n` +
            'Write the program that spec.md asks for and the tests check, complete, file by file, with write_file. If a ' +
            'person turned the code down, mend exactly what they said. When every file is written, call `finish` with a ' +
            'list of the files and how to run them.',
          output: 'tools',
          history: true,
        },
      },
    },
  },
};
