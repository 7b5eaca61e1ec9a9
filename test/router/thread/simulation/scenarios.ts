import { SOURCE, STRANGER, said } from '../../support/team.ts';
import type { Expected } from './judge.ts';
import type { Plan, Told } from './sim.ts';

export interface Scenario {
  readonly plan: Omit<Plan, 'seed'>;
  readonly expected: Expected;
  /** Besides, where nothing holds anything up. */
  readonly smooth?: Partial<Expected>;
}

/** By the words of the text. */
export const byWords: Plan['decide'] = (text) => {
  if (/\bwork\b/.test(text)) return { decision: 'accept', title: 'work', ruleId: 'bugs' };
  if (/question/.test(text)) return { decision: 'answer', reply: 'an answer' };
  if (/end it/.test(text)) return { decision: 'stop' };
  return { decision: 'ignore' };
};

const deleted = (number: number): Told => ({
  sourceId: SOURCE,
  threadKey: 'gh:4711:issue:1',
  objectId: `issue_comment/${number}`,
  at: Date.UTC(2026, 0, 1, 0, 30),
});

const talk = (count: number, everyMs: number, text: (index: number) => string): Plan['events'] =>
  Array.from({ length: count }, (_, index) => [index * everyMs, said(text(index), { number: index + 1 })] as const);

export const SCENARIOS: { readonly [name: string]: Scenario } = {
  'a listed person asks, and goes on talking': {
    plan: {
      events: [
        [0, said('@baton work', { number: 1 })],
        [15_000, said('and more of it', { number: 2 })],
        [15_010, said('a stranger', { number: 3, actor: STRANGER })],
      ],
      decide: byWords,
    },
    expected: { triggers: 3, tickets: 1, openTickets: 1 },
    // What overtakes the request is judged by itself.
    smooth: { given: 2 },
  },
  'a question, and some talk around it': {
    plan: {
      events: [
        [0, said('hm', { number: 1 })],
        [1_000, said('@baton a question', { number: 2 })],
        [1_500, said('well', { number: 3 })],
      ],
      decide: byWords,
    },
    expected: { triggers: 3, tickets: 0, answers: 1 },
  },
  'two ask for work at once': {
    plan: {
      events: [
        [0, said('@baton work', { number: 1 })],
        [100, said('@baton work too', { number: 2 })],
      ],
      decide: byWords,
    },
    expected: { triggers: 2, tickets: 1, given: 1 },
  },
  'one event is told three times': {
    plan: {
      events: [0, 10, 8_000].map((after) => [after, said('@baton work', { number: 1 })] as const),
      decide: byWords,
    },
    // What opened the ticket is not given to it again.
    expected: { triggers: 1, tickets: 1, given: 0 },
  },
  'an edit while it is decided': {
    plan: {
      events: [
        [0, said('@baton work', { number: 1 })],
        [1_500, said('@baton a question', { number: 1, at: 2, edited: true })],
      ],
      decide: byWords,
    },
    // Before the first look, in the middle, or behind it: then the ticket is there.
    expected: { triggers: 1, texts: ['@baton a question'] },
  },
  'a stop beats what was asked before it': {
    plan: {
      events: [
        [0, said('@baton work', { number: 1 })],
        [10_000, said('@baton stop', { number: 3 })],
        // It happened before and comes late.
        [11_000, said('@baton more work', { number: 2 })],
        [25_000, said('@baton a question', { number: 4 })],
      ],
      decide: byWords,
    },
    expected: { triggers: 4, openTickets: 0 },
    // A stop that is late finds the question with the ticket.
    smooth: { tickets: 1, answers: 1, given: 0 },
  },
  'a stop that the model understands': {
    plan: {
      events: [
        [0, said('@baton work', { number: 1 })],
        [12_000, said('@baton please work on nothing: end it', { number: 2, issue: 2 })],
      ],
      decide: (text) => (/end it/.test(text) ? { decision: 'stop' } : byWords(text)),
    },
    expected: { triggers: 2, tickets: 1, openTickets: 1 },
  },
  'what is deleted': {
    plan: {
      events: [
        [0, said('@baton work', { number: 1 })],
        [200, deleted(1)],
        [10_000, deleted(2)],
        [11_000, said('@baton work', { number: 2 })],
      ],
      decide: byWords,
    },
    expected: { triggers: 2 },
  },
  'twelve in a row': {
    plan: { events: talk(12, 700, (index) => `talk ${index}`), decide: byWords },
    expected: { triggers: 12, tickets: 0, answers: 0 },
  },
};
