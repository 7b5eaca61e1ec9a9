/** One change of a ticket as the rows of a transaction: the row itself, what it asks of people, who is told, what is left of it. */
import { effectIdOf, effectItem } from '../../effect/effect.ts';
import type { Write } from '../../kernel/table.ts';
import { attentionWrites } from './attention.ts';
import type { Planned } from './deps.ts';
import type { Standing } from './phase.ts';
import { asSeen, digestItem, ticketItem } from './rows.ts';
import type { SlotKind } from './slots.ts';
import type { Ticket } from './ticket.ts';

/** Type of the webhooks' event. */
export const PHASE_CHANGED = 'ticket.phase_changed';

const toldOf = (before: Ticket | undefined, after: Ticket) => {
  if (before?.phase === after.phase) return undefined;
  const { orgId, id, version, updatedAt: at } = after;
  const detail = {
    ticketId: id,
    title: after.title,
    ...(before !== undefined && { from: before.phase }),
    to: after.phase,
    ...(after.reason !== undefined && { reason: after.reason }),
    at: new Date(at).toISOString(),
  };
  const effectId = effectIdOf(`${PHASE_CHANGED} ${orgId} ${id} ${version}`);
  const item = effectItem({
    effectId,
    orgId,
    kind: 'webhook',
    detailType: PHASE_CHANGED,
    detail: JSON.stringify(detail),
    at,
    sequence: version,
  });
  return { effectId, write: { put: item } };
};

const digestOf = (ticket: Ticket): Write => ({
  put: digestItem(ticket.orgId, {
    ticketId: ticket.id,
    title: ticket.title,
    asked: ticket.asked,
    done: ticket.report?.text ?? '',
    learned: [...ticket.learned],
    end: ticket.reason?.code ?? 'closed',
    threadIds: ticket.threads.map(({ threadId }) => threadId),
    openedAt: ticket.createdAt,
    closedAt: ticket.endedAt ?? ticket.updatedAt,
  }),
});

/** The next version of a ticket. */
export const changed = (ticket: Ticket, changes: Partial<Ticket>, now: number): Ticket => ({
  ...ticket,
  ...changes,
  version: ticket.version + 1,
  updatedAt: now,
});

/** It has a place and goes on: whatever it asked is asked no more, and an end is undone. */
export const working = (slot: SlotKind): Partial<Ticket> => ({
  phase: 'working',
  slot,
  reason: undefined,
  attentionSince: undefined,
  endedAt: undefined,
});

/** It has something to do and no place. */
export const queued: Partial<Ticket> = {
  phase: 'queued',
  slot: undefined,
  reason: undefined,
  attentionSince: undefined,
  endedAt: undefined,
};

/** It stands, and has given its place back. */
export const standingAt = ({ phase, reason, asks, ended }: Standing, now: number): Partial<Ticket> => ({
  phase,
  reason,
  slot: undefined,
  attentionSince: asks ? now : undefined,
  endedAt: ended ? now : undefined,
});

/** Refused where the ticket is not as it was read. The first write is the ticket's own. */
export const changeWrites = (before: Ticket, after: Ticket): Planned<readonly Write[]> => {
  const told = toldOf(before, after);
  const closes = after.phase === 'closed' && before.phase !== 'closed';
  return {
    writes: [
      { put: ticketItem(after), if: asSeen(before) },
      ...attentionWrites(before, after),
      ...(told === undefined ? [] : [told.write]),
      ...(closes ? [digestOf(after)] : []),
    ],
    effectIds: told === undefined ? [] : [told.effectId],
  };
};

/** Of a ticket that is opened. */
export const openingTold = (ticket: Ticket): Planned<readonly Write[]> => {
  const told = toldOf(undefined, ticket);
  return told === undefined ? { writes: [], effectIds: [] } : { writes: [told.write], effectIds: [told.effectId] };
};
