/** What the tools of workers start from: whose call it is, by the engine's own word, and the ticket as it stands. */
import { TransactionRefused, type Write } from '../../../kernel/table.ts';
import type { ToolContext, ToolResult } from '../../../tools/tool.ts';
import type { TicketDeps } from '../deps.ts';
import { findTicket } from '../rows.ts';
import type { Ticket } from '../ticket.ts';

export type ToolDeps = Pick<TicketDeps, 'table' | 'clock' | 'log' | 'effects' | 'postings'>;

export const no = (text: string): ToolResult => ({ ok: false, text });
export const yes = (text: string): ToolResult => ({ ok: true, text });

/** The ticket that a call is made for, or what the model is told of why there is none. */
export type Found = { readonly ticket: Ticket } | { readonly refused: ToolResult };

/** The run's own row says which ticket it is; a run that is not the ticket's last speaks for it no more. */
export const ticketOfCall = async ({ table }: Pick<ToolDeps, 'table'>, { run }: ToolContext): Promise<Found> => {
  if (run?.ticketId === undefined) return { refused: no('This run works for no ticket.') };
  const ticket = await findTicket(table, run.orgId, run.ticketId);
  if (ticket === undefined || ticket.executionIds.at(-1) !== run.executionId) {
    return { refused: no('The ticket is worked on by another run.') };
  }
  if (ticket.mandate.state !== 'active') {
    return { refused: no('The ticket was stopped by a person: nothing of it is carried out any more.') };
  }
  return { ticket };
};

/** What one try comes to: rows whose first is the guard of the call, or an answer that needs none. */
export type Attempt =
  | { readonly writes: readonly Write[]; readonly done: () => Promise<ToolResult> }
  | { readonly answer: ToolResult };

const MAX_TRIES = 10;

/**
 * Carries a call out once under its key, however often it runs; the ticket is read again where it moved meanwhile.
 * @param repeated what the model is told where it was carried out before
 */
export const once = async (
  deps: ToolDeps,
  context: ToolContext,
  repeated: ToolResult,
  attempt: (ticket: Ticket) => Promise<Attempt>,
): Promise<ToolResult> => {
  for (let tries = 1; ; tries++) {
    const found = await ticketOfCall(deps, context);
    if ('refused' in found) return found.refused;
    const made = await attempt(found.ticket);
    if ('answer' in made) return made.answer;
    try {
      await deps.table.transact(made.writes);
    } catch (error) {
      if (!(error instanceof TransactionRefused) || tries === MAX_TRIES) throw error;
      if (error.refused[0] === true) return repeated;
      continue;
    }
    return made.done();
  }
};
