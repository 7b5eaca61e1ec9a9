import * as z from 'zod';
import type { Item, Key, Value } from '../../kernel/table.ts';
import { TABLE } from '../../names.ts';
import { makeRow, readRow } from '../../tenancy/row.ts';
import { asValue } from '../thread/rows.ts';

const replySchema = z.object({
  round: z.int().min(0),
  /** What was asked about, and under which policy and subscriptions: another Eval may use it for nothing else. */
  basis: z.object({
    policyVersion: z.int(),
    subscriptions: z.int(),
    model: z.string(),
    /** `<trigger id> <revision> <rounds>` */
    triggers: z.array(z.string()),
  }),
  content: z.string(),
  calls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })),
  refused: z.boolean(),
  finish: z.string(),
  model: z.string(),
  tokensIn: z.number(),
  tokensOut: z.number(),
  /** Micro-dollars. */
  cost: z.number(),
  at: z.number(),
});
/** What the model said in one round of an Eval, stored before anything acts on it. */
export type StoredReply = z.output<typeof replySchema>;

/** A reply is of use to the Eval that bought it and the one after it; people may ask for longer what was said. */
const KEPT_DAYS = 90;
const SECONDS_A_DAY = 86_400;

export const replyItem = (key: Key, reply: StoredReply): Item =>
  makeRow(key, {
    ...(asValue(reply) as { [name: string]: Value }),
    [TABLE.ttl]: Math.floor(reply.at / 1000) + KEPT_DAYS * SECONDS_A_DAY,
  });

/** @throws UnreadableRow */
export const readStoredReply = (item: Item): StoredReply => readRow(replySchema, item);
