/** What must hold of every play, judged from outside: rows and queues. */
import { readDecision } from '../../../../lib/router/thread/rows.ts';
import { readThread } from '../../../../lib/router/thread/thread.ts';
import { readTrigger } from '../../../../lib/router/thread/trigger.ts';
import { readTicket } from '../../../../lib/router/ticket/ticket.ts';
import type { ThreadSim } from './sim.ts';

export interface Expected {
  /** Objects that were told of. */
  readonly triggers: number;
  readonly tickets?: number;
  readonly openTickets?: number;
  readonly answers?: number;
  /** Triggers and revisions that a ticket was given. */
  readonly given?: number;
  /** The newest text of each Trigger, in any order. */
  readonly texts?: readonly string[];
  readonly mostCalls?: number;
}

const counted = (what: string, found: number, expected: number | undefined): string[] =>
  expected === undefined || found === expected ? [] : [`${found} ${what} instead of ${expected}`];

export const violationsOf = (sim: ThreadSim, expected: Expected): string[] => {
  const found = [...sim.broken, ...sim.surprises.map((error) => `failed unexpectedly: ${String(error)}`)];
  const triggers = sim.rows(/^TRIGGER#/).map(readTrigger);
  const tickets = sim.rows(/^TICKET$/).map(readTicket);
  found.push(...counted('Triggers', triggers.length, expected.triggers));
  for (const { id, state } of triggers) {
    if (state === 'pending' || state === 'delivering') found.push(`I13: ${id} is still ${state}`);
  }
  if (sim.rows(/^PENDING#/).length > 0) found.push('I13: something is pending and nothing moves it');
  const decisions = sim.rows(/^dec_/).map(readDecision);
  const named = decisions.map(({ triggerId, revision }) => `${triggerId} ${revision}`);
  if (new Set(named).size < named.length) found.push('I2: two decisions about one revision of a Trigger');
  for (const item of sim.rows(/^THREAD$/)) {
    const thread = readThread(item);
    if (thread.owner !== undefined) found.push('I5: a lease was never let go');
    // A message that is lost before what it is about is withdrawn leaves a mark, which the sweep takes away.
    if (sim.plan.sweep === true && thread.dueSk !== undefined) found.push('a mark stands and nothing is pending');
  }
  found.push(...counted('tickets', tickets.length, expected.tickets));
  const open = tickets.filter(({ mandate }) => mandate.state === 'active').length;
  found.push(...counted('open tickets', open, expected.openTickets));
  found.push(...counted('answers', sim.rows(/^POSTING$/).length, expected.answers));
  found.push(...counted('messages to tickets', sim.rows(/^GIVEN#/).length, expected.given));
  if (expected.texts !== undefined) {
    const texts = triggers.map(({ text }) => text).sort();
    if (texts.join('|') !== [...expected.texts].sort().join('|')) found.push(`the texts are ${texts.join(' | ')}`);
  }
  if (sim.inbox.size + sim.assess.size > 0) found.push(`${sim.inbox.size + sim.assess.size} messages are left`);
  if (expected.mostCalls !== undefined && sim.calls > expected.mostCalls) found.push(`${sim.calls} calls of the model`);
  return found;
};
