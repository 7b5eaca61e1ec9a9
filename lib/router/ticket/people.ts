/** What people do to a ticket over HTTP: they answer it, stop it, or have it tried again. */
import { changeLimits } from '../../execution/change-limits.ts';
import { resumeExecution } from '../../execution/control.ts';
import type { Execution } from '../../execution/execution.ts';
import { getExecution } from '../../execution/get.ts';
import { isTerminal, STOPPED } from '../../execution/status.ts';
import { NotYet } from '../../execution/step/deps.ts';
import { AppError, conflict, notFound } from '../../kernel/errors.ts';
import { TransactionRefused, type Write } from '../../kernel/table.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import type { Policy } from '../policy/policy.ts';
import { changeWrites } from './change.ts';
import { type TicketDeps, wakeEffects } from './deps.ts';
import { type Beside, giveMessage } from './give.ts';
import { grantNext } from './grant.ts';
import { findPlace } from './place.ts';
import { findTicket, onceWrite } from './rows.ts';
import type { Ticket } from './ticket.ts';
import { mostCost, perTurn } from './worker.ts';

interface At {
  readonly orgId: string;
  readonly ticketId: string;
}

/** Who asks, and what makes it the same request when it comes again. */
export interface Asked {
  /** Id of the key. */
  readonly actor: string;
  readonly key: string;
}

/** @throws AppError 404 */
export const getTicket = async (deps: Pick<TicketDeps, 'table'>, { orgId, ticketId }: At): Promise<Ticket> => {
  const ticket = await findTicket(deps.table, orgId, ticketId);
  if (ticket === undefined) throw notFound('ticket');
  return ticket;
};

const refuseRevoked = ({ id, mandate }: Ticket): void => {
  if (mandate.state === 'active') return;
  const message = `The mandate of ${id} was revoked (${mandate.revokedBy ?? 'stopped'}). Open another ticket.`;
  throw conflict('mandate_revoked', message, { ticketId: id });
};

/**
 * A message of whoever has a key: it answers what the ticket asks, or is its next one; an ended ticket goes on with it.
 * @throws AppError 404; 409 when its mandate is revoked
 */
export const answerTicket = async (
  deps: TicketDeps,
  at: At,
  content: string,
  asked: Asked,
  beside?: Beside,
): Promise<Ticket> => {
  const ticket = await getTicket(deps, at);
  refuseRevoked(ticket);
  const message = {
    kind: 'answer',
    origin: `key ${asked.actor}`,
    trust: 'explicit' as const,
    wake: true,
    human: true,
    text: content,
    cause: `answer ${asked.key}`,
    at: deps.clock.now(),
  };
  const given = await giveMessage(deps, at, message, async () => 'yes', beside);
  if (given === 'refused') refuseRevoked(await getTicket(deps, at));
  await goOnIfStopped(deps, at, { ...asked, key: `answer ${asked.key}` });
  return getTicket(deps, at);
};

/** As much again of what a person has to raise, where that is what stopped it. */
const raised = (execution: Execution, policy: Policy) => {
  if (execution.reason === 'max_iterations') return { maxIterations: execution.calls + perTurn(policy.worker) };
  if (execution.reason === 'max_cost') {
    const used = execution.cost + execution.childCost + execution.carved + execution.reserved + execution.worst;
    return { maxCost: Math.max(execution.maxCost, used) + mostCost(policy.worker) };
  }
  if (execution.reason === 'max_seconds') return { maxSeconds: 2 * execution.maxSeconds };
  return undefined;
};

const MAX_TRIES = 8;

/**
 * Goes on where it was stopped: by a fuse, whose limit is raised by as much again, by an error, by a pause; a worker that
 * stands between its turns is told to try again. It waits for a place like any other.
 * @throws AppError 404; 409 when its mandate is revoked, or when it works or waits for a place already
 */
export const retryTicket = async (
  deps: TicketDeps,
  at: At,
  asked: Asked,
  beside: Beside = () => [],
): Promise<Ticket> => {
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const ticket = await getTicket(deps, at);
    refuseRevoked(ticket);
    if (ticket.phase === 'working' || ticket.phase === 'queued') {
      throw conflict('ticket_goes_on', `The ticket is ${ticket.phase} already.`, { phase: ticket.phase });
    }
    const executionId = ticket.executionIds.at(-1);
    const execution = executionId === undefined ? undefined : await getExecution(deps.table, { ...at, executionId });
    const stopped = execution !== undefined && (STOPPED.includes(execution.status) || execution.status === 'PAUSED');
    if (!stopped) return answerTicket(deps, at, 'Try again. Look first at what is there already.', asked, beside);
    if (await resumed(deps, ticket, execution, asked, beside)) return getTicket(deps, at);
  }
  throw new NotYet('The ticket changed each time that it was read.');
};

const resumed = async (
  deps: TicketDeps,
  ticket: Ticket,
  execution: Execution,
  asked: Asked,
  beside: Beside,
): Promise<boolean> => {
  const { policy } = await loadPolicy(deps.table, ticket.orgId);
  const limits = raised(execution, policy);
  if (limits !== undefined) await changeLimits(deps, execution, limits);
  const now = deps.clock.now();
  const changes = { retries: ticket.retries + 1 };
  // The extra place is for messages.
  const placed = await findPlace(deps.table, ticket, false, changes, now);
  const { writes, effectIds } = changeWrites(ticket, placed.after);
  const once = onceWrite(ticket.orgId, ticket.id, `retry ${asked.key}`, now);
  const theirs = beside(placed.after);
  const all: readonly Write[] = [once, ...writes, placed.slots, ...theirs];
  let tries = 0;
  try {
    // Without a place the queue resumes it.
    if (placed.slot === undefined) await deps.table.transact(all);
    else {
      await resumeExecution(deps, execution, async () => {
        if (tries++ > 0) throw conflict('moved', 'It moved meanwhile.');
        return all;
      });
    }
  } catch (error) {
    const moved = error instanceof TransactionRefused || (error instanceof AppError && error.code === 'moved');
    if (!moved) throw error;
    const refused = error instanceof TransactionRefused ? error.refused : [];
    if (theirs.length > 0 && refused.slice(-theirs.length).includes(true)) throw error;
    // The same request came a second time.
    return refused.at(-all.length) === true;
  }
  await wakeEffects(deps, ticket.orgId, effectIds);
  if (placed.slot === undefined) await grantNext(deps, ticket.orgId);
  return true;
};

/**
 * A person's message to a ticket that a fuse or an error has stopped says, too, that it should go on. What it cannot mend
 * stays as it is: the message waits.
 */
export const goOnIfStopped = async (deps: TicketDeps, at: At, asked: Asked): Promise<void> => {
  const ticket = await getTicket(deps, at);
  const executionId = ticket.executionIds.at(-1);
  if (ticket.phase !== 'blocked' || executionId === undefined) return;
  const execution = await getExecution(deps.table, { orgId: at.orgId, executionId });
  // Money is raised by nobody but by whoever says so; a pause was meant.
  const mends = execution.status === 'ERROR_PAUSED' || execution.status === 'ITERATION_LIMIT_EXCEEDED';
  if (!mends || isTerminal(execution.status)) return;
  try {
    await retryTicket(deps, at, asked);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    deps.log.info('A stopped ticket did not go on with a message.', { ticketId: at.ticketId, code: error.code });
  }
};
