/** The executions of a ticket: one at a time, the next only after the one before has ended for good. */
import type { Execution } from '../../execution/execution.ts';
import { type FirstInput, startOnce } from '../../execution/start.ts';
import { TransactionRefused, type Write } from '../../kernel/table.ts';
import type { VersionedPolicy } from '../policy/policy.ts';
import type { TicketDeps } from './deps.ts';
import type { Message } from './message.ts';
import { LENT_STEPS, type SlotKind } from './slots.ts';
import type { Ticket } from './ticket.ts';
import { onTaint, workerConfig } from './worker.ts';
import { workerAgent } from './worker-agent.ts';

const inputOf = ({ kind, origin, trust, wake, text, replyTo }: Message): FirstInput => ({
  kind,
  origin,
  trust,
  wake,
  text,
  ...(replyTo !== undefined && { replyTo }),
});

export interface WorkerRun {
  /** As it stood before; the row is written by `alongside`. */
  readonly ticket: Ticket;
  readonly policy: VersionedPolicy;
  readonly executionId: string;
  readonly messages: readonly Message[];
  /** Missing: it waits for a place, between its turns. */
  readonly slot: SlotKind | undefined;
  /** The execution that it goes on from. */
  readonly before?: Execution | undefined;
  readonly alongside: readonly Write[];
}

/**
 * Starts the execution with its first messages and what is alongside, in one transaction.
 * @returns false when this very execution was started before; nothing was written then
 * @throws TransactionRefused with the results of `alongside` alone; AppError 404, 409
 */
export const startWorker = async (deps: TicketDeps, run: WorkerRun): Promise<boolean> => {
  const { ticket, policy, executionId, messages, slot, before, alongside } = run;
  const agentId = await workerAgent(deps, ticket.orgId);
  const config = workerConfig(policy.policy, ticket);
  const tainted = before?.tainted === true;
  try {
    const { fresh } = await startOnce(deps, {
      orgId: ticket.orgId,
      agentId,
      executionId,
      name: ticket.title.slice(0, 200).toWellFormed(),
      config,
      ticket: {
        id: ticket.id,
        parked: slot === undefined,
        tainted,
        onTaint: onTaint(policy.policy.worker),
        ...(slot === 'human' && { lentSteps: LENT_STEPS }),
      },
      inputs: messages.map(inputOf),
      alongside: () => alongside,
    });
    return fresh;
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error;
    throw new TransactionRefused(error.refused.slice(-alongside.length), error.items.slice(-alongside.length));
  }
};
