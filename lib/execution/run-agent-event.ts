import { createHash } from 'node:crypto';
import * as z from 'zod';
import { checkConfig } from '../agent/config.ts';
import type { Ids } from '../kernel/ids.ts';
import { keys } from '../kernel/keys.ts';
import { lt, missing, or, TransactionRefused } from '../kernel/table.ts';
import { TABLE } from '../names.ts';
import { type StartDeps, startExecution } from './start.ts';

/** Detail of a `Run Agent` event on the app's bus. Unknown members are let through: other people's events grow. */
export const runAgentDetailSchema = z.object({
  organisationId: z.string().min(1),
  agentId: z.string().min(1),
  goals: z.array(z.string()).optional(),
  instructions: z.array(z.string()).optional(),
  idempotencyKey: z.string().min(1).max(500).optional(),
});
export type RunAgentDetail = z.infer<typeof runAgentDetailSchema>;

/** EventBridge delivers at least once, within a day; a caller's own key should hold a little longer than that. */
const REMEMBERED_SECONDS = 7 * 86_400;

/**
 * Starts a run for an event, once for its idempotency key (its id, where it names none): the record stands in the
 * transaction that starts the run.
 * @returns the new execution's id, or `undefined` when the event was handled before
 * @throws AppError 404 for the agent, 400 for a configuration that does not fit
 */
export const startForEvent = async (
  deps: StartDeps & { readonly ids: Ids },
  eventId: string,
  detail: RunAgentDetail,
): Promise<string | undefined> => {
  const now = deps.clock.now();
  const cause = `run-agent\n${detail.idempotencyKey ?? `event ${eventId}`}`;
  const record = keys.idempotency(detail.organisationId, createHash('sha256').update(cause).digest('hex'));
  const config = {
    ...(detail.goals !== undefined && { goals: detail.goals }),
    ...(detail.instructions !== undefined && { instructions: detail.instructions }),
  };
  checkConfig(config, []);
  const seconds = Math.floor(now / 1000);
  const executionId = deps.ids.next('exe', now);
  try {
    await startExecution(deps, {
      orgId: detail.organisationId,
      agentId: detail.agentId,
      executionId,
      config,
      alongside: () => [
        {
          put: { ...record, v: 1, id: executionId, [TABLE.ttl]: seconds + REMEMBERED_SECONDS },
          // TTL deletes late: an expired record counts as none.
          if: or(missing('pk'), lt(TABLE.ttl, seconds)),
        },
      ],
    });
    return executionId;
  } catch (error) {
    if (error instanceof TransactionRefused && error.refused.at(-1) === true) return undefined;
    throw error;
  }
};
