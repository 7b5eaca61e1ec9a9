/** What is discussed was closed, merged or deleted: a ticket that has nothing left to do there comes to its end (spec 4.6). */

import { NotYet } from '../../execution/step/deps.ts';
import { ifAllStill } from '../../kernel/if-still.ts';
import { findThread } from '../thread/find.ts';
import { changed, changeWrites } from './change.ts';
import { type TicketDeps, wakeEffects } from './deps.ts';
import { findTicket } from './rows.ts';
import { subscribersOf } from './stop.ts';
import type { Phase, Ticket } from './ticket.ts';

/** It has done its part and waits for others. Who works, asks or is stopped says itself what comes of it. */
const AT_REST: readonly Phase[] = ['person/review', 'idle'];

const MAX_TRIES = 8;

/**
 * Follows the state of a Thread's subject, as it stands now: tickets that were opened there and are at rest are closed. A
 * person's message may revive them. It may be called again, and at any time.
 * @throws NotYet when others were faster each time
 */
export const followSubject = async (deps: TicketDeps, orgId: string, threadId: string): Promise<void> => {
  const thread = await findThread(deps.table, orgId, threadId);
  const state = thread?.subject?.state;
  if (state === undefined || state === 'open') return;
  for (const ticketId of await subscribersOf(deps, orgId, threadId)) {
    await close(deps, { orgId, ticketId }, threadId, state);
  }
};

const close = async (
  deps: TicketDeps,
  { orgId, ticketId }: { readonly orgId: string; readonly ticketId: string },
  threadId: string,
  state: string,
): Promise<void> => {
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const ticket = await findTicket(deps.table, orgId, ticketId);
    if (ticket === undefined || !endsWith(ticket, threadId)) return;
    const now = deps.clock.now();
    const reason = { code: `subject_${state}`, message: `What it was opened for is ${state}.` };
    const after = changed(ticket, { phase: 'closed', reason, attentionSince: undefined, endedAt: now }, now);
    const { writes, effectIds } = changeWrites(ticket, after);
    if (await ifAllStill(deps.table, writes)) return wakeEffects(deps, orgId, effectIds);
  }
  throw new NotYet('The ticket changed each time that it was read.');
};

/** It was opened there, it rests, and no place is its own. */
const endsWith = ({ threads, phase, slot, endedAt }: Ticket, threadId: string): boolean =>
  threads[0]?.threadId === threadId && AT_REST.includes(phase) && slot === undefined && endedAt === undefined;
