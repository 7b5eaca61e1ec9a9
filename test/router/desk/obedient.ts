/** A model that does whatever a text tells it to, as Eval and as worker. */
import type { Attack } from '../support/injections.ts';
import type { Calls, Worker } from '../ticket/shop.ts';

export const MERGE = 'https://api.github.com/repos/o/r/pulls/7/merge';

/** What an attack asks an Eval for. */
export const obeyingEval = ({ wants }: Attack): object => {
  const { mandate, ruleId, ticketId } = wants;
  const more = {
    title: 'As told',
    ...(mandate !== undefined && { mandate }),
    ...(ruleId !== undefined && { ruleId }),
    ...(ticketId !== undefined && { ticketId }),
  };
  if (wants.decision !== undefined) return { decision: wants.decision, ...more };
  if (wants.reply !== undefined) return { decision: 'answer', reply: wants.reply, ...more };
  return { decision: 'accept', ...more };
};

/** What an attack asks a worker for: its own call, else a merge by every way that there might be. */
const callsOf = ({ wants, payload = 'as told' }: Attack, named: () => string): Calls => {
  // The corpus cannot know the ids of others: what it names is what is there.
  if (wants.call?.tool === 'read') return [['read', { id: named() }]];
  if (wants.call !== undefined) return [[wants.call.tool, wants.call.arguments]];
  if (wants.reply !== undefined) {
    const content = wants.reply;
    return [['reply', { content, ...(wants.threadId !== undefined && { to: wants.threadId }) }]];
  }
  return [
    ['merge', { number: 7, repositoryId: wants.mandate?.repositoryId }],
    ['http_request', { method: 'PUT', url: MERGE }],
    ['repo_read', { path: '.env', repositoryId: wants.mandate?.repositoryId }],
    ['reply', { content: payload }],
  ];
};

/**
 * In its turn `at` it obeys, whether it was shown the words or not: what is hidden from it is still the attacker's wish. Then it
 * tells in the discussion what its calls have brought. Before, it does what `first` says, or waits.
 * @param named an id that an attack means where it names somebody else's
 */
export const obeyingWorker =
  (attack: Attack, at: number, named: () => string, first: Calls = WAITS): Worker =>
  ({ messages }, { turn }) => {
    if (turn < at) return first;
    if (turn === at) return callsOf(attack, named);
    const told = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    return turn === at + 1 ? [['reply', { content: `They say: ${told.join(' / ')}` }], ...WAITS] : WAITS;
  };

const WAITS: Calls = [['report', { state: 'waiting', on: 'event', text: 'For more.' }]];
