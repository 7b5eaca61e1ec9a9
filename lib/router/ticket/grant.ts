/** Free places go to who waits: the ticket at the head of the queue goes on where it stands. */

import { beginTurn, resumeExecution } from '../../execution/control.ts';
import type { Execution } from '../../execution/execution.ts';
import { getExecution } from '../../execution/get.ts';
import { isTerminal, STOPPED } from '../../execution/status.ts';
import { AppError } from '../../kernel/errors.ts';
import { ifAllStill } from '../../kernel/if-still.ts';
import { TransactionRefused, type Write } from '../../kernel/table.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import type { Policy } from '../policy/policy.ts';
import { changed, changeWrites, working } from './change.ts';
import { type TicketDeps, wakeEffects } from './deps.ts';
import { findTicket, readSlots, slotsWrite } from './rows.ts';
import { hold, leave, next, type Slots } from './slots.ts';
import type { Ticket } from './ticket.ts';
import { standsBetween, turnChanges } from './turn.ts';

/** There are at most 16 places; the rest are losers of races, who look again. */
const MOST_ROUNDS = 40;

/** What was to be written does not hold any more: it is looked at anew. */
class Moved extends Error {
  override readonly name = 'Moved';
}

/**
 * Gives every free ordinary place to the queue. It may be called at any time, again and at the same time: the place, the
 * ticket and its execution move in one transaction. Whoever dies before it is followed by the next end of a turn, and by
 * the sweep.
 */
export const grantNext = async (deps: TicketDeps, orgId: string): Promise<void> => {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { policy } = await loadPolicy(deps.table, orgId);
    const slots = await readSlots(deps.table, orgId);
    const head = next(slots, policy.maxWorkers);
    if (head === undefined) return;
    await give(deps, orgId, head.ticketId, slots, policy);
  }
};

const give = async (deps: TicketDeps, orgId: string, ticketId: string, slots: Slots, policy: Policy): Promise<void> => {
  const ticket = await findTicket(deps.table, orgId, ticketId);
  const executionId = ticket?.executionIds.at(-1);
  const waits = ticket !== undefined && ticket.endedAt === undefined && ticket.slot === undefined;
  if (!waits || executionId === undefined) return drop(deps, orgId, ticketId, slots);
  const execution = await getExecution(deps.table, { orgId, executionId });
  if (isTerminal(execution.status)) return drop(deps, orgId, ticketId, slots);
  await setGoing(deps, execution, policy, ticket, slots);
};

const drop = async (deps: TicketDeps, orgId: string, ticketId: string, slots: Slots): Promise<void> => {
  await ifAllStill(deps.table, [slotsWrite(orgId, slots, leave(slots, ticketId), deps.clock.now())]);
};

const setGoing = async (
  deps: TicketDeps,
  execution: Execution,
  policy: Policy,
  ticket: Ticket,
  slots: Slots,
): Promise<void> => {
  const { orgId, id } = ticket;
  const now = deps.clock.now();
  const after = changed(ticket, working('ordinary'), now);
  const { writes, effectIds } = changeWrites(ticket, after);
  const all: readonly Write[] = [...writes, slotsWrite(orgId, slots, hold(slots, id, 'ordinary', now).slots, now)];
  let tries = 0;
  // Of a second try only the execution was read again: the rest may have moved too, and is read again from the start.
  const beside = async (): Promise<readonly Write[]> => {
    if (tries++ > 0) throw new Moved();
    return all;
  };
  try {
    if (standsBetween(execution)) await beginTurn(deps, execution, turnChanges(policy, 'ordinary'), beside);
    else if (STOPPED.includes(execution.status) || execution.status === 'PAUSED') {
      await resumeExecution(deps, execution, beside);
    } else await deps.table.transact(all);
  } catch (error) {
    if (error instanceof Moved || error instanceof TransactionRefused) return;
    // It cannot go on as it is: its limit was lowered again, or somebody was faster. It waits no more.
    if (!(error instanceof AppError)) throw error;
    deps.log.warn('A ticket could not be given its place.', { ticketId: id, code: error.code });
    return drop(deps, orgId, id, slots);
  }
  await wakeEffects(deps, orgId, effectIds);
};
