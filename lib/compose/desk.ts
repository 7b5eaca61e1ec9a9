import type { Desk } from '../router/thread/desk.ts';
import { makeDesk } from '../router/ticket/desk.ts';
import { once } from './core.ts';
import { ticketDeps } from './tickets.ts';

/** What becomes of a Trigger outside of its Thread. */
export const desk = once((): Desk => makeDesk(ticketDeps()));
