/**
 * A schedule whose agent was deleted starts nothing any more. Its row learns so when it is due next, for an agent may have more
 * schedules than its deletion could write; whoever asks before is told what is.
 */
import { conflict } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import type { Item, Table } from '../kernel/table.ts';
import type { Schedule } from './schedule.ts';

const BATCH = 100; // `getMany` takes 100 keys

/** Asked of the row as it lies there: one that cannot be read is still an agent's. */
const isGone = (item: Item | undefined): boolean => item === undefined || item.deletedAt !== undefined;

/** Ids of those agents that are not there any more. */
const goneOf = async (table: Table, orgId: string, agentIds: readonly string[]): Promise<ReadonlySet<string>> => {
  const ids = [...new Set(agentIds)];
  const gone = new Set<string>();
  for (let from = 0; from < ids.length; from += BATCH) {
    const batch = ids.slice(from, from + BATCH);
    const items = await table.getMany(
      batch.map((id) => keys.agent(orgId, id)),
      { consistent: true },
    );
    for (const [at, id] of batch.entries()) if (isGone(items[at])) gone.add(id);
  }
  return gone;
};

const REASON = {
  code: 'agent_deleted',
  message: 'The agent of this schedule was deleted: nothing starts any more. Delete the schedule.',
};

const withoutAgent = (schedule: Schedule): Schedule =>
  schedule.state === 'ACTIVE' || schedule.state === 'PAUSED'
    ? { ...schedule, nextAt: undefined, pending: undefined, reason: schedule.reason ?? REASON }
    : schedule;

/** For people: one without its agent has no next time, and says why. Nothing is written. All are of one organisation. */
export const allAsTheyAre = async (table: Table, schedules: readonly Schedule[]): Promise<readonly Schedule[]> => {
  const [first] = schedules;
  if (first === undefined) return schedules;
  const gone = await goneOf(
    table,
    first.orgId,
    schedules.map(({ agentId }) => agentId),
  );
  return schedules.map((schedule) => (gone.has(schedule.agentId) ? withoutAgent(schedule) : schedule));
};

export const asItIs = async (table: Table, schedule: Schedule): Promise<Schedule> =>
  (await allAsTheyAre(table, [schedule]))[0] ?? schedule;

/** @throws AppError 409 `agent_deleted` naming the agent */
export const demandAgent = async (table: Table, { orgId, agentId }: Schedule): Promise<void> => {
  if (!isGone(await table.get(keys.agent(orgId, agentId), { consistent: true }))) return;
  const message = `The agent ${agentId} of this schedule was deleted: nothing starts any more. Delete the schedule.`;
  throw conflict('agent_deleted', message, { agentId });
};
