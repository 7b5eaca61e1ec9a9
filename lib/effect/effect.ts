import { createHash } from 'node:crypto';
import * as z from 'zod';
import { jsonObject } from '../execution/row-fields.ts';
import { UnreadableRow } from '../kernel/errors.ts';
import { due, keys } from '../kernel/keys.ts';
import type { Item } from '../kernel/table.ts';

/** Version of the row that this code writes and reads; a newer one is left as it is. */
export const EFFECT_VERSION = 1;

/**
 * Something that leaves the system. Its row is written in the transaction of the decision behind it (store, then act); a
 * message only wakes it, and its mark in the `due` index finds it when the message is lost.
 */
const effectSchema = z.object({
  v: z.literal(EFFECT_VERSION),
  effectId: z.string(),
  orgId: z.string(),
  /**
   * `bus`: for the app's bus, and for the webhooks that want it; `webhook`: for webhooks alone; `child`: for runs above and
   * below; `ticket`: for the ticket that a run works for.
   */
  kind: z.enum(['bus', 'webhook', 'child', 'ticket']),
  /** Of a webhook's effect: the type of its event. */
  detailType: z.string(),
  /** JSON text of the event's detail. */
  detail: z.string(),
  state: z.enum(['pending', 'sent', 'dead']),
  at: z.number(),
  /** Number of the event among those of its subject; rises in the order in which they happened. */
  sequence: z.number().optional(),
  /** Step of the execution that it happened in. */
  step: z.number().optional(),
  sentAt: z.number().optional(),
  lastError: z.string().optional(),
  duePk: z.string().optional(),
  dueSk: z.string().optional(),
});
export type Effect = z.infer<typeof effectSchema>;

/** @throws UnreadableRow */
export const readEffect = (item: Item): Effect => {
  const parsed = effectSchema.safeParse(item);
  if (!parsed.success) throw new UnreadableRow(item, z.prettifyError(parsed.error));
  jsonObject(item, parsed.data.detail);
  return parsed.data;
};

/** A pending effect is looked at again when its message has not been seen for this long. */
export const EFFECT_STALL_MS = 600_000;

export const effectItem = (
  effect: Pick<Effect, 'effectId' | 'orgId' | 'kind' | 'detailType' | 'detail' | 'at'> & {
    readonly sequence?: number;
    readonly step?: number;
  },
): Item => ({
  ...keys.effect(effect.orgId, effect.effectId),
  ...effect,
  v: EFFECT_VERSION,
  state: 'pending',
  duePk: due.pkOf('sweep', effect.effectId),
  dueSk: due.sk(effect.at + EFFECT_STALL_MS, effect.effectId),
});

/** The same cause makes the same id, so that a transaction that is tried again writes the same row. */
export const effectIdOf = (cause: string): string =>
  `eff_${createHash('sha256').update(cause).digest('hex').slice(0, 26)}`;

export const effectMessageSchema = z.strictObject({ orgId: z.string().min(1), effectId: z.string().min(1) });
export type EffectMessage = z.infer<typeof effectMessageSchema>;

/** Ids out of an effect's primary key, as the index shows it. */
export const parseEffectPk = (pk: string): EffectMessage | undefined => {
  const match = /^ORG#([^#]+)#EFFECT#([^#]+)$/.exec(pk);
  return match?.[1] !== undefined && match[2] !== undefined ? { orgId: match[1], effectId: match[2] } : undefined;
};
