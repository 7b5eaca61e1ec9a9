import type { WorkflowDefinition } from '../definition.ts';
import { BRIEF } from './parts.ts';

/**
 * Per lead: look the person's company up, ask whether to go on, look closer, write, wait, write again. Letters are files
 * under `outbox/`, where whatever sends mail takes them; answers are messages to the run or files under `inbox/`.
 */
export const salesEngagement: WorkflowDefinition = {
  name: 'sales-engagement',
  description: 'Works through a list of leads: research, approval, first letter, pause, follow-up.',
  start: 'find-leads',
  steps: {
    'find-leads': {
      kind: 'TOOL',
      tools: ['list_files'],
      instruction: `${BRIEF}\n\nList the files, to see which one holds the leads.`,
      history: true,
      next: { default: 'read-leads' },
    },
    'read-leads': {
      kind: 'TOOL',
      tools: ['read_file', 'http_request'],
      instruction:
        `${BRIEF}\n\nFiles:\n{last}\n\nRead the list of leads: the file that holds it, or the address that the goals or ` +
        'instructions name for it.',
      history: true,
      next: { default: 'leads' },
    },
    leads: {
      kind: 'TASK_QUEUE',
      instruction:
        `${BRIEF}\n\nWhat was read:\n{last}\n\n` +
        'Give one entry for each lead, with everything that is known about it: name, address, company, notes. If no list ' +
        'was found, take the leads that the goals and instructions name.',
      next: { default: 'research', COMPLETE: 'done' },
    },
    research: {
      kind: 'TOOL',
      tools: ['http_request'],
      instruction:
        `${BRIEF}\n\nThe lead:\n{task}\n\nFind out what this lead's company does: ask its website, or a search service, with ` +
        'one request. If an earlier answer was turned down, look elsewhere and heed what was said.',
      history: true,
      next: { default: 'approve' },
    },
    approve: {
      kind: 'ASK_PERMISSION',
      question: 'Write to this lead?\n\n{task}\n\nWhat was found:\n{last}',
      next: { YES: 'look-closer', NO: 'research' },
    },
    'look-closer': {
      kind: 'TOOL',
      tools: ['http_request'],
      instruction:
        `${BRIEF}\n\nThe lead:\n{task}\n\nLook for one thing to begin a letter with: news of the company, a product, a role ` +
        'of the person. Make one request.',
      history: true,
      next: { default: 'write' },
    },
    write: {
      kind: 'TOOL',
      tools: ['write_file'],
      instruction:
        `${BRIEF}\n\nThe lead:\n{task}\n\nWhat was found:\n{last}\n\n` +
        'Write a short letter to this lead into a file outbox/<name of the lead>-1.md: lines "To:" and "Subject:", a blank ' +
        'line, the text. Claim nothing that was not found.',
      history: true,
      next: { default: 'pause' },
    },
    pause: { kind: 'WAIT', seconds: 120, wakeOnInput: false, next: { default: 'look-for-answer' } },
    'look-for-answer': {
      kind: 'TOOL',
      tools: ['list_files', 'read_file'],
      instruction:
        'The lead:\n{task}\n\nLook whether an answer came: read the file of this lead under inbox/, or list the files if you ' +
        'do not know its name. An answer may also stand in the messages above.',
      history: true,
      next: { default: 'follow-up' },
    },
    'follow-up': {
      kind: 'TOOL',
      tools: ['write_file'],
      instruction:
        `${BRIEF}\n\nThe lead:\n{task}\n\nWhat came back:\n{last}\n\n` +
        'Write the next letter into a file outbox/<name of the lead>-2.md, in the form of the first: a reply if there was an ' +
        'answer, else one friendly reminder.',
      history: true,
      next: { default: 'leads' },
    },
    done: { kind: 'END', result: 'Leads worked through:\n{completed}\n\nThe letters are in outbox/.' },
  },
  iterations: {},
};
