import * as z from 'zod';
import { notFound } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import { ConditionFailed, exists, type Item, missing, remove, set, type Table } from '../kernel/table.ts';
import { readRow } from './row.ts';

const rowSchema = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.string(),
  defaultProjectId: z.string(),
  /** Name of the model account that is used when an agent names no model. */
  defaultProvider: z.string().optional(),
  /** Rises with each revoked key, so that two revocations at once cannot both believe the other's key remains. */
  revocations: z.number().optional(),
  stopped: z.object({ at: z.string(), by: z.string() }).optional(),
});

/** `stopped`: since when everything of the organisation is held, and the id of the key that did it. */
export type Organisation = z.output<typeof rowSchema>;

export const readOrganisation = (item: Item): Organisation => readRow(rowSchema, item);

/** @throws AppError 404 */
export const getOrganisation = async (table: Table, orgId: string): Promise<Organisation> => {
  const item = await table.get(keys.organisation(orgId), { consistent: true });
  if (item === undefined) throw notFound('organisation');
  return readOrganisation(item);
};

/** Holds all steps, Evals and effects of the organisation. Stopping twice keeps the first time and actor. */
export const stopOrganisation = async (
  table: Table,
  orgId: string,
  by: string,
  nowMs: number,
): Promise<Organisation> => {
  try {
    const stopped = { at: new Date(nowMs).toISOString(), by };
    const written = await table.update(keys.organisation(orgId), [set('stopped', stopped)], missing('stopped'));
    return readOrganisation(written);
  } catch (error) {
    if (error instanceof ConditionFailed && error.item !== undefined) return readOrganisation(error.item);
    throw error;
  }
};

/**
 * Lets everything go on.
 * @param wake sends a wake-up to what stood still; a crash before it is mended by resuming once more, or by the sweep
 */
export const resumeOrganisation = async (
  table: Table,
  orgId: string,
  wake: (orgId: string) => Promise<void>,
): Promise<Organisation> => {
  const written = await table.update(keys.organisation(orgId), [remove('stopped')], exists('id'));
  await wake(orgId);
  return readOrganisation(written);
};
