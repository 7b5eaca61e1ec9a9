/** A person says stop: the mandate is revoked, the worker's run ended and the ticket closed, in one transaction (I21). */
import { type Beside, terminateExecution } from '../../execution/control.ts';
import { getExecution } from '../../execution/get.ts';
import { isTerminal } from '../../execution/status.ts';
import { NotYet } from '../../execution/step/deps.ts';
import { allPages } from '../../execution/step/load.ts';
import { AppError } from '../../kernel/errors.ts';
import { keys } from '../../kernel/keys.ts';
import { TransactionRefused, type Write } from '../../kernel/table.ts';
import { changed, changeWrites } from './change.ts';
import { type TicketDeps, wakeEffects } from './deps.ts';
import { grantNext } from './grant.ts';
import { findTicket, readSlots, slotsWrite } from './rows.ts';
import { revokedBy } from './settle.ts';
import { leave } from './slots.ts';
import type { Ticket } from './ticket.ts';

export interface Stop {
  /** `<source id>:<actor id>`, or the id of a key. */
  readonly by: string;
  /** When it was said, ms since the epoch: nothing that was said before it ever revives the ticket. */
  readonly at: number;
}

const MAX_TRIES = 12;

/** It is stopped already. */
class Stopped extends Error {
  override readonly name = 'Stopped';
}

const isStopped = ({ mandate, endedAt }: Ticket): boolean => mandate.state === 'revoked' && endedAt !== undefined;

interface Rows {
  readonly writes: readonly Write[];
  readonly effectIds: readonly string[];
}

/** Read and made anew at each try of the transaction. @throws Stopped */
const rowsOf = async (deps: TicketDeps, at: { orgId: string; ticketId: string }, stop: Stop): Promise<Rows> => {
  const { table, clock } = deps;
  const [ticket, slots] = await Promise.all([findTicket(table, at.orgId, at.ticketId), readSlots(table, at.orgId)]);
  if (ticket === undefined || isStopped(ticket)) throw new Stopped();
  const now = clock.now();
  const after = changed(
    ticket,
    {
      phase: 'closed',
      reason: { code: 'stopped', message: `Stopped by ${stop.by}.` },
      mandate: revokedBy(ticket, stop.by),
      slot: undefined,
      attentionSince: undefined,
      endedAt: now,
      stoppedAt: Math.max(stop.at, ticket.stoppedAt ?? 0),
    },
    now,
  );
  const { writes, effectIds } = changeWrites(ticket, after);
  return { writes: [...writes, slotsWrite(at.orgId, slots, leave(slots, at.ticketId), now)], effectIds };
};

/**
 * Stands whatever is queued: what the worker still wants to say is refused by the revoked mandate when it is sent, and
 * messages that come after it find a ticket that nothing revives. Done twice it is done once.
 * @returns the ticket as it stands then; `undefined` when there is none
 * @throws NotYet when others were faster each time
 */
export const stopTicket = async (
  deps: TicketDeps,
  at: { readonly orgId: string; readonly ticketId: string },
  stop: Stop,
): Promise<Ticket | undefined> => {
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const ticket = await findTicket(deps.table, at.orgId, at.ticketId);
    if (ticket === undefined || isStopped(ticket)) return ticket;
    if (await tryStop(deps, at, ticket, stop)) {
      await grantNext(deps, at.orgId);
      return findTicket(deps.table, at.orgId, at.ticketId);
    }
  }
  throw new NotYet('The ticket changed each time that it was to be stopped.');
};

const tryStop = async (
  deps: TicketDeps,
  at: { readonly orgId: string; readonly ticketId: string },
  { executionIds, orgId }: Ticket,
  stop: Stop,
): Promise<boolean> => {
  let effectIds: readonly string[] = [];
  const beside: Beside = async () => {
    const rows = await rowsOf(deps, at, stop);
    effectIds = rows.effectIds;
    return rows.writes;
  };
  const executionId = executionIds.at(-1);
  try {
    const execution = executionId === undefined ? undefined : await getExecution(deps.table, { orgId, executionId });
    if (execution === undefined || isTerminal(execution.status)) {
      await deps.table.transact((await rowsOf(deps, at, stop)).writes);
    } else await terminateExecution(deps, execution, beside);
  } catch (error) {
    if (error instanceof Stopped) return true;
    // It ended by itself at this moment, or others were faster.
    if (error instanceof TransactionRefused || error instanceof AppError) return false;
    throw error;
  }
  await wakeEffects(deps, orgId, effectIds);
  return true;
};

/** Tickets that subscribe to a Thread, whatever they stand at. */
export const subscribersOf = async (
  { table }: Pick<TicketDeps, 'table'>,
  orgId: string,
  threadId: string,
): Promise<readonly string[]> => {
  const items = await allPages(table, { ...keys.subscriptions(orgId, threadId), consistent: true });
  return items.map(({ sk }) => sk.slice(sk.indexOf('#') + 1));
};

/**
 * All tickets of a Thread, or the one that is named.
 * @returns their ids
 */
export const stopTickets = async (
  deps: TicketDeps,
  orgId: string,
  where: { readonly threadId: string; readonly ticketId?: string | undefined },
  stop: Stop,
): Promise<readonly string[]> => {
  const all = await subscribersOf(deps, orgId, where.threadId);
  const named = where.ticketId === undefined ? all : all.filter((id) => id === where.ticketId);
  for (const ticketId of named) await stopTicket(deps, { orgId, ticketId }, stop);
  return named;
};
