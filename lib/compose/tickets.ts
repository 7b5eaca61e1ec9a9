import type { TicketDeps } from '../router/ticket/deps.ts';
import { once, postings } from './core.ts';
import { startDeps } from './executions.ts';

/** What becomes of tickets, wherever it is decided. */
export const ticketDeps = once((): TicketDeps => ({ ...startDeps(), postings: postings() }));
