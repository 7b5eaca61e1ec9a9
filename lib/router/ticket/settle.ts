/** A ticket follows its worker: read as both stand now, so that it matters little how often and in what order it is told. */

import { beginTurn } from '../../execution/control.ts';
import { A, type Execution } from '../../execution/execution.ts';
import { getExecution } from '../../execution/get.ts';
import { NotYet } from '../../execution/step/deps.ts';
import { AppError } from '../../kernel/errors.ts';
import { ifAllStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import { and, eq, TransactionRefused, type Write } from '../../kernel/table.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import { changed, changeWrites, queued, standingAt, working } from './change.ts';
import { type TicketDeps, wakeEffects } from './deps.ts';
import { grantNext } from './grant.ts';
import { standingOf } from './phase.ts';
import { findTicket, readSlots, slotsWrite } from './rows.ts';
import { enqueue, hold, leave, type Slots, take } from './slots.ts';
import type { Ticket } from './ticket.ts';
import { turnChanges } from './turn.ts';

const MAX_TRIES = 12;

/**
 * Takes a worker's status over to its ticket: its phase, its place, what it asks of people, and at the end what is left of
 * it. Then a place that came free goes on to whoever waits.
 * @throws NotYet when others were faster each time
 */
export const settleTicket = async (
  deps: TicketDeps,
  orgId: string,
  { ticketId, executionId }: { readonly ticketId: string; readonly executionId: string },
): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    const ticket = await findTicket(deps.table, orgId, ticketId);
    if (ticket === undefined || ticket.executionIds.at(-1) !== executionId) break;
    const execution = await getExecution(deps.table, { orgId, executionId });
    if (await settled(deps, ticket, execution)) break;
    if (attempt === MAX_TRIES) throw new NotYet('The ticket or its run moved each time that it was read.');
  }
  await grantNext(deps, orgId);
};

/** This change of the run was followed before: what has become of the ticket since then is not undone. */
const isOld = ({ settled }: Ticket, { executionId, changes }: Execution): boolean =>
  settled !== undefined && settled.executionId === executionId && settled.changes >= changes;

/** @returns false when something moved: it is read again */
const settled = async (deps: TicketDeps, ticket: Ticket, execution: Execution): Promise<boolean> => {
  if (isOld(ticket, execution)) return true;
  const now = deps.clock.now();
  const mark = { settled: { executionId: execution.executionId, changes: execution.changes } };
  const slots = await readSlots(deps.table, ticket.orgId);
  if (execution.parked === 'yield' && execution.status === 'WAITING_FOR_INPUT') {
    return ticket.endedAt !== undefined || yielded(deps, ticket, execution, slots, mark, now);
  }
  // Closed by a person or by what became of its subject: what its run still says does not open it again.
  if (ticket.endedAt !== undefined && ticket.slot === undefined) return true;
  const stands = standingOf(execution, ticket);
  if (stands === undefined) {
    if (ticket.slot !== undefined) return true;
    // Somebody's decision has set it going: it has its place, above the limit if need be.
    const held = hold(slots, ticket.id, 'ordinary', now);
    return commit(deps, ticket, changed(ticket, { ...mark, ...working(held.kind) }, now), slots, held.slots, execution);
  }
  const ends = execution.status === 'TERMINATED' ? { mandate: revokedBy(ticket, 'whoever ended its worker') } : {};
  const after = changed(ticket, { ...mark, ...ends, ...standingAt(stands, now) }, now);
  return commit(deps, ticket, after, slots, leave(slots, ticket.id), execution);
};

export const revokedBy = ({ mandate }: Ticket, by: string): Ticket['mandate'] =>
  mandate.state === 'revoked' ? mandate : { ...mandate, state: 'revoked', revokedBy: by };

/** The lent place is given back: an ordinary one if there is one, else the queue. */
const yielded = async (
  deps: TicketDeps,
  ticket: Ticket,
  execution: Execution,
  slots: Slots,
  mark: Partial<Ticket>,
  now: number,
): Promise<boolean> => {
  const { policy } = await loadPolicy(deps.table, ticket.orgId);
  const free = leave(slots, ticket.id);
  const taken = take(free, { ticketId: ticket.id, human: true }, policy.maxWorkers, now);
  // The extra place is for the next person who speaks.
  if (taken?.kind !== 'ordinary') {
    const after = changed(ticket, { ...mark, ...queued }, now);
    return commit(deps, ticket, after, slots, enqueue(free, ticket.id, true, now), execution);
  }
  const after = changed(ticket, { ...mark, ...working(taken.kind) }, now);
  const { writes, effectIds } = changeWrites(ticket, after);
  const all = [...writes, slotsWrite(ticket.orgId, slots, taken.slots, now)];
  let tries = 0;
  try {
    await beginTurn(deps, execution, turnChanges(policy, taken.kind), async () => {
      if (tries++ > 0) throw new Moved();
      return all;
    });
  } catch (error) {
    if (error instanceof Moved || error instanceof TransactionRefused || error instanceof AppError) return false;
    throw error;
  }
  await wakeEffects(deps, ticket.orgId, effectIds);
  return true;
};

class Moved extends Error {
  override readonly name = 'Moved';
}

/** The run stands where it was read: a message that begins a turn at this moment is not overlooked. */
const runStands = ({ orgId, executionId, status, since }: Execution): Write => ({
  check: keys.execution(orgId, executionId),
  if: and(eq(A.status, status), eq(A.since, since)),
});

const commit = async (
  deps: TicketDeps,
  before: Ticket,
  after: Ticket,
  slots: Slots,
  then: Slots,
  execution: Execution,
): Promise<boolean> => {
  const { writes, effectIds } = changeWrites(before, after);
  const places = slotsWrite(before.orgId, slots, then, after.updatedAt);
  if (!(await ifAllStill(deps.table, [...writes, places, runStands(execution)]))) return false;
  await wakeEffects(deps, before.orgId, effectIds);
  return true;
};
