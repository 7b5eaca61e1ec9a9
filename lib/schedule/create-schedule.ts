import { agentStands, getAgent, pinnedConfig } from '../agent/agent.ts';
import { notFound } from '../kernel/errors.ts';
import { type Ids, isId } from '../kernel/ids.ts';
import { missing, TransactionRefused } from '../kernel/table.ts';
import type { Alongside } from '../tenancy/alongside.ts';
import { announce, type ScheduleDeps } from './announce.ts';
import { checkTiming, firstFire } from './fields.ts';
import { markTime, withMark } from './mark.ts';
import { type Schedule, scheduleItem } from './schedule.ts';

export interface NewSchedule {
  readonly orgId: string;
  /** Id of the key that makes it. */
  readonly actor: string;
  readonly agentId: string;
  /** Ms; without it now. */
  readonly startAt?: number | undefined;
  readonly every?: string | undefined;
  readonly cron?: string | undefined;
  readonly timezone?: string | undefined;
  /** Ms. */
  readonly expiresAt?: number | undefined;
  readonly maxRuns?: number | undefined;
  readonly overlap?: Schedule['overlap'] | undefined;
  readonly misfire?: Schedule['misfire'] | undefined;
  readonly goals?: readonly string[] | undefined;
  readonly instructions?: readonly string[] | undefined;
  readonly alongside?: Alongside<Schedule> | undefined;
}

/** What a schedule says in place of the agent's own goals and instructions. */
export const overridesOf = (given: Pick<NewSchedule, 'goals' | 'instructions'>) => ({
  ...(given.goals !== undefined && { goals: given.goals }),
  ...(given.instructions !== undefined && { instructions: given.instructions }),
});

/**
 * The schedule as it begins, with its mark: nothing is written yet, and the agent is not looked at.
 * @throws AppError 400 naming the field
 */
export const draftSchedule = (ids: Ids, given: Omit<NewSchedule, 'alongside'>, now: number): Schedule => {
  const { orgId, agentId, actor, expiresAt, maxRuns } = given;
  const { startAt = now, timezone = 'UTC' } = given;
  const timing = checkTiming({ startAt, every: given.every, cron: given.cron, timezone, expiresAt });
  const nextAt = firstFire(timing, expiresAt, now);
  const createdAt = new Date(now).toISOString();
  const made: Schedule = {
    id: ids.next('sch', now),
    orgId,
    agentId,
    version: 1,
    state: 'ACTIVE',
    ...timing,
    expiresAt,
    maxRuns,
    overlap: given.overlap ?? 'skip',
    misfire: given.misfire ?? 'fire-once',
    goals: given.goals && [...given.goals],
    instructions: given.instructions && [...given.instructions],
    nextAt,
    runs: 0,
    createdAt,
    createdBy: actor,
    updatedAt: createdAt,
  };
  return withMark(made, markTime(made, now));
};

/**
 * Written with its mark, then woken where it is soon: if we die between the two, the tick finds it.
 * @throws AppError 404 for the agent; 400 naming the field
 */
export const createSchedule = async (
  deps: ScheduleDeps & { readonly ids: Ids },
  given: NewSchedule,
): Promise<Schedule> => {
  const now = deps.clock.now();
  const { orgId, agentId } = given;
  const schedule = draftSchedule(deps.ids, given, now);
  if (!isId('agt', agentId)) throw notFound('agent');
  pinnedConfig(await getAgent(deps.table, orgId, agentId), overridesOf(given));
  try {
    await deps.table.transact([
      { put: scheduleItem(schedule), if: missing('pk') },
      agentStands(orgId, agentId),
      ...(given.alongside?.(schedule) ?? []),
    ]);
  } catch (error) {
    if (error instanceof TransactionRefused && error.refused[1] === true) throw notFound('agent');
    throw error;
  }
  await announce(deps, schedule, now);
  return schedule;
};
