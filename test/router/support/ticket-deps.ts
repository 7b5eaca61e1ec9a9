import type { EffectMessage } from '../../../lib/effect/effect.ts';
import type { StepMessage } from '../../../lib/execution/message.ts';
import type { PostingMessage } from '../../../lib/router/message.ts';
import type { TicketDeps } from '../../../lib/router/ticket/deps.ts';
import { ticketFloor } from '../../../lib/router/ticket/floor.ts';
import { makeMemoryMetrics } from '../../support/memory-log.ts';
import { makeMemoryQueue } from '../../support/memory-queue.ts';

/** Tickets whose workers are started and stopped, and never take a step. */
export const makeTicketDeps = (given: Pick<TicketDeps, 'table' | 'clock' | 'ids' | 'log'>): TicketDeps => {
  const effects = makeMemoryQueue<EffectMessage>();
  return {
    ...given,
    steps: makeMemoryQueue<StepMessage>(),
    effects,
    postings: makeMemoryQueue<PostingMessage>(),
    metrics: makeMemoryMetrics(),
    upper: ticketFloor({ effects, log: given.log }),
    resolveModel: async () => undefined,
  };
};
