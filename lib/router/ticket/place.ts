/** Places given and taken, as rows of the transaction that they are needed in. */
import { conflict } from '../../kernel/errors.ts';
import type { Table, Write } from '../../kernel/table.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import type { VersionedPolicy } from '../policy/policy.ts';
import { changed, queued, working } from './change.ts';
import { readSlots, slotsWrite } from './rows.ts';
import { enqueue, isFull, MOST_WAITING, type SlotKind, take } from './slots.ts';
import type { Ticket } from './ticket.ts';

export interface Placed {
  readonly policy: VersionedPolicy;
  /** Missing: none is free, and it waits for one. */
  readonly slot: SlotKind | undefined;
  readonly after: Ticket;
  readonly slots: Write;
}

/**
 * What becomes of a ticket that has something to do and no place: it gets one, or it waits in the queue.
 * @throws AppError 409 `queue_full`
 */
export const findPlace = async (
  table: Table,
  ticket: Ticket,
  human: boolean,
  changes: Partial<Ticket>,
  now: number,
): Promise<Placed> => {
  const { orgId, id: ticketId } = ticket;
  const [policy, slots] = await Promise.all([loadPolicy(table, orgId), readSlots(table, orgId)]);
  const taken = take(slots, { ticketId, human }, policy.policy.maxWorkers, now);
  if (taken !== undefined) {
    const after = changed(ticket, { ...changes, ...working(taken.kind) }, now);
    return { policy, slot: taken.kind, after, slots: slotsWrite(orgId, slots, taken.slots, now) };
  }
  if (isFull(slots)) throw conflict('queue_full', `${MOST_WAITING} tickets wait for a place already.`);
  const after = changed(ticket, { ...changes, ...queued }, now);
  return { policy, slot: undefined, after, slots: slotsWrite(orgId, slots, enqueue(slots, ticketId, human, now), now) };
};
