import * as z from 'zod';
import { notFound } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import {
  add,
  and,
  type Change,
  type Condition,
  ConditionFailed,
  eq,
  exists,
  type Item,
  missing,
  remove,
  set,
  type Table,
} from '../kernel/table.ts';
import { ROW_VERSION, readRow } from './row.ts';

const rowSchema = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.iso.datetime(),
  defaultProjectId: z.string(),
  /** Name of the model account that is used when an agent names no model. */
  defaultProvider: z.string().optional(),
  /** Rises with each revoked key, so that two revocations at once cannot both believe the other's key remains. */
  revocations: z.number().optional(),
  /** What its runs may spend in all on one UTC day, micro-dollars. */
  dailyBudget: z.int().min(0).optional(),
  /** How many of a kind were ever made. It rises with each, so that two at once cannot both be the last that fits. */
  madeWebhooks: z.number().optional(),
  madeProviders: z.number().optional(),
  stopped: z.object({ at: z.iso.datetime(), by: z.string() }).optional(),
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

/** What an organisation has only so many of. */
type Counted = 'madeWebhooks' | 'madeProviders';

/**
 * For the transaction that makes one more: refused when another of its kind was made since the organisation was read, for
 * then they have to be counted again. Deleted ones are still counted here: this is no count, only a turn.
 */
export const inTurn = (
  organisation: Organisation,
  kind: Counted,
): { readonly changes: readonly Change[]; readonly if: Condition } => {
  const made = organisation[kind];
  return { changes: [add(kind, 1)], if: and(exists('pk'), made === undefined ? missing(kind) : eq(kind, made)) };
};

/** Holds all steps, Evals and effects of the organisation. Stopping twice keeps the first time and actor. */
export const stopOrganisation = async (
  table: Table,
  orgId: string,
  by: string,
  nowMs: number,
): Promise<Organisation> => {
  const stopped = { at: new Date(nowMs).toISOString(), by };
  return change(table, orgId, [set('stopped', stopped)], and(readable, missing('stopped')));
};

/** A row of a newer writer is not changed unread. */
const readable = eq('v', ROW_VERSION);

/** The row after the change, or as it stands where the guard did not hold. @throws AppError 404; UnreadableRow */
const change = async (
  table: Table,
  orgId: string,
  changes: readonly Change[],
  guard: Condition,
): Promise<Organisation> => {
  try {
    return readOrganisation(await table.update(keys.organisation(orgId), changes, guard));
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    if (error.item === undefined) throw notFound('organisation');
    return readOrganisation(error.item);
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
  const resumed = await change(table, orgId, [remove('stopped')], readable);
  await wake(orgId);
  return resumed;
};

/** Since when everything of the organisation is held, ms since the epoch; `undefined` when it is not. */
export const heldSince = async (table: Table, orgId: string): Promise<number | undefined> => {
  const { stopped } = await getOrganisation(table, orgId);
  return stopped && Date.parse(stopped.at);
};
