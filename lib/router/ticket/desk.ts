import { postingWrites, wakePostings } from '../outbox/write.ts';
import type { Desk } from '../thread/desk.ts';
import { happenedAt } from '../thread/route.ts';
import { type TicketDeps, wakeEffects } from './deps.ts';
import { fanOut } from './fan-out.ts';
import { joinWrites } from './join.ts';
import { planAccept } from './open.ts';
import { stopTickets } from './stop.ts';

/** The Threads' port to what becomes of a Trigger, as tickets and outbox stand behind it. */
export const makeDesk = (deps: TicketDeps): Desk => ({
  accept: async (request) => planAccept(deps, request),
  join: async ({ ticket, thread, trigger }) => {
    const planned = joinWrites(ticket, thread, trigger, deps.clock.now());
    return planned && { writes: planned.writes, wake: () => wakeEffects(deps, ticket.orgId, planned.effectIds) };
  },
  answer: ({ thread, trigger, body }) => {
    const { orgId, id: threadId, sourceId, repositoryId } = thread;
    const { postingId, writes } = postingWrites({
      orgId,
      place: { threadId, sourceId, replyTo: trigger.replyTo, repositoryId },
      cause: `answer ${trigger.id} ${trigger.revision}`,
      at: deps.clock.now(),
      causeAt: trigger.receivedAt,
      askedAt: happenedAt(trigger),
      body,
    });
    return { writes, wake: () => wakePostings(deps, orgId, [postingId]) };
  },
  stop: ({ orgId, threadId, ticketId, by, at }) => stopTickets(deps, orgId, { threadId, ticketId }, { by, at }),
  fanOut: (trigger) => fanOut(deps, trigger),
});
