/** A message comes to a ticket: its worker reads it in the turn under way, or it begins the next one where there is a place. */

import { createHash } from 'node:crypto';
import type { Execution } from '../../execution/execution.ts';
import { getExecution } from '../../execution/get.ts';
import { giveInput } from '../../execution/input.ts';
import { isTerminal } from '../../execution/status.ts';
import { NotYet } from '../../execution/step/deps.ts';
import { AppError } from '../../kernel/errors.ts';
import { ifAllStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import { TransactionRefused, type Write } from '../../kernel/table.ts';
import { changed, changeWrites } from './change.ts';
import { type TicketDeps, wakeEffects } from './deps.ts';
import { grantNext } from './grant.ts';
import type { Message } from './message.ts';
import { findPlace } from './place.ts';
import { asSeen, findTicket, onceWrite } from './rows.ts';
import { startWorker } from './run.ts';
import type { Ticket } from './ticket.ts';
import { standsBetween, turnChanges } from './turn.ts';

/** `refused`: it has ended and is not revived, or cannot read it any more. */
export type Given = 'taken' | 'refused';

/** What the look before a revival says (spec 4.3): a mandate whose ground is gone goes with it. */
export type Revival = 'yes' | 'no' | 'revoke';

export type Beside = (ticket: Ticket) => readonly Write[];

/** Others change the ticket, its run or the places: each loser reads again. */
const MAX_TRIES = 12;

/**
 * Gives a message to a ticket, once however often it is asked. Nothing here asks a model, and no mandate grows by it (I7).
 * @param revival asked where the ticket has ended and a person speaks
 * @param beside written in the same transaction, made from the ticket as it stands then
 * @throws AppError 409 `queue_full`; TransactionRefused when what is beside was refused; NotYet when others were faster
 * each time
 */
export const giveMessage = async (
  deps: TicketDeps,
  at: { readonly orgId: string; readonly ticketId: string },
  message: Message,
  revival: (ticket: Ticket) => Promise<Revival>,
  beside: Beside = () => [],
): Promise<Given> => {
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const ticket = await findTicket(deps.table, at.orgId, at.ticketId);
    if (ticket === undefined) return 'refused';
    const may = await mayTake(ticket, message, revival);
    if (may === 'revoke') {
      await revoke(deps, ticket);
      continue;
    }
    const given = may === 'no' ? 'refused' : await give(deps, ticket, message, beside);
    // What it took before it ended, it has taken.
    if (given === 'refused') return (await hasTaken(deps, ticket, message)) ? 'taken' : 'refused';
    if (given === 'taken') return 'taken';
  }
  throw new NotYet('The ticket changed each time that it was read.');
};

const mayTake = async (
  ticket: Ticket,
  message: Message,
  revival: (ticket: Ticket) => Promise<Revival>,
): Promise<Revival> => {
  if (ticket.mandate.state !== 'active') return 'no';
  if (ticket.endedAt === undefined) return 'yes';
  if (!message.human || !message.wake || message.at <= (ticket.stoppedAt ?? 0)) return 'no';
  return revival(ticket);
};

const hasTaken = async ({ table }: TicketDeps, { orgId, id }: Ticket, { cause }: Message): Promise<boolean> => {
  const key = keys.ticketDone(orgId, id, createHash('sha256').update(cause).digest('hex'));
  return (await table.get(key, { consistent: true })) !== undefined;
};

const give = async (deps: TicketDeps, ticket: Ticket, message: Message, beside: Beside): Promise<Given | 'again'> => {
  const { orgId, id, executionIds } = ticket;
  const executionId = executionIds.at(-1);
  if (executionId === undefined) return 'refused';
  const execution = await getExecution(deps.table, { orgId, executionId });
  const once = onceWrite(orgId, id, message.cause, deps.clock.now());
  if (isTerminal(execution.status)) {
    return message.wake ? goOn(deps, ticket, execution, message, once, beside) : 'refused';
  }
  if (message.wake && ticket.slot === undefined && standsBetween(execution)) {
    return beginTurn(deps, ticket, execution, message, once, beside);
  }
  // Its place, or that it needs none now, is what was read; it might be given back at this very moment.
  const check: readonly Write[] = message.wake ? [{ check: keys.ticket(orgId, id), if: asSeen(ticket) }] : [];
  return put(deps, execution, message, {}, [once, ...check], beside(ticket));
};

const put = async (
  deps: TicketDeps,
  execution: Execution,
  { kind, origin, trust, wake, text, replyTo }: Message,
  how: Pick<Parameters<typeof giveInput>[2], 'hold' | 'turn'>,
  own: readonly Write[],
  beside: readonly Write[],
): Promise<Given | 'again'> => {
  const input = { kind, origin, trust, wake, text, replyTo, ...how, alongside: () => [...own, ...beside] };
  try {
    await giveInput(deps, execution, input);
    return 'taken';
  } catch (error) {
    return judged(error, own.length, beside.length);
  }
};

/** The first of the ticket's own rows says that the message was given before; what is beside is the caller's business. */
const judged = (error: unknown, own: number, beside: number): Given | 'again' => {
  if (error instanceof TransactionRefused) {
    if (error.refused.at(-own - beside) === true) return 'taken';
    if (beside > 0 && error.refused.slice(-beside).includes(true)) throw error;
    return 'again';
  }
  // It has ended between the look and the write.
  if (error instanceof AppError && error.code === 'execution_ended') return 'again';
  throw error;
};

const beginTurn = async (
  deps: TicketDeps,
  ticket: Ticket,
  execution: Execution,
  message: Message,
  once: Write,
  beside: Beside,
): Promise<Given | 'again'> => {
  const placed = await findPlace(deps.table, ticket, message.human, {}, deps.clock.now());
  const { writes, effectIds } = changeWrites(ticket, placed.after);
  const how = placed.slot === undefined ? { hold: true } : { turn: turnChanges(placed.policy.policy, placed.slot) };
  const own = [once, ...writes, placed.slots];
  const given = await put(deps, execution, message, how, own, beside(placed.after));
  if (given === 'taken') await afterwards(deps, ticket.orgId, effectIds, placed.slot === undefined);
  return given;
};

/** Its last execution has ended for good: another one goes on, under the same mandate. */
const goOn = async (
  deps: TicketDeps,
  ticket: Ticket,
  before: Execution,
  message: Message,
  once: Write,
  beside: Beside,
): Promise<Given | 'again'> => {
  const now = deps.clock.now();
  const executionId = deps.ids.next('exe', now);
  const changes = {
    executionIds: [...ticket.executionIds, executionId],
    spent: ticket.spent + before.cost + before.childCost,
  };
  const placed = await findPlace(deps.table, ticket, message.human, changes, now);
  const { policy, slot, after } = placed;
  const { writes, effectIds } = changeWrites(ticket, after);
  const own = [once, ...writes, placed.slots];
  const theirs = beside(after);
  const alongside = [...own, ...theirs];
  const billed = { ...ticket, spent: after.spent };
  try {
    await startWorker(deps, { ticket: billed, policy, executionId, messages: [message], slot, before, alongside });
  } catch (error) {
    return judged(error, own.length, theirs.length);
  }
  await afterwards(deps, ticket.orgId, effectIds, slot === undefined);
  return 'taken';
};

const afterwards = async (
  deps: TicketDeps,
  orgId: string,
  effectIds: readonly string[],
  waits: boolean,
): Promise<void> => {
  await wakeEffects(deps, orgId, effectIds);
  // A place may have come free while it was put into the queue.
  if (waits) await grantNext(deps, orgId);
};

/** The look before a revival has failed: there is nothing left that the mandate was for. */
const revoke = async (deps: TicketDeps, ticket: Ticket): Promise<void> => {
  const mandate = { ...ticket.mandate, state: 'revoked' as const, revokedBy: 'the look before a revival' };
  const { writes } = changeWrites(ticket, changed(ticket, { mandate }, deps.clock.now()));
  await ifAllStill(deps.table, writes);
};
