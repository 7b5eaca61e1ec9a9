/** Rows of the Threads' room as they are written; `thread.ts` and `trigger.ts` read them. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { keys, owner } from '../../kernel/keys.ts';
import type { Item, Key, Value } from '../../kernel/table.ts';
import { makeRow, readRow } from '../../tenancy/row.ts';
import { type Decision, decisionSchema, type Trigger } from './trigger.ts';

/** A copy without members that are `undefined`, however deep: the table never stores those. */
const plain = (value: object): { readonly [name: string]: Value } =>
  JSON.parse(JSON.stringify(value)) as { readonly [name: string]: Value };

export const triggerItem = (trigger: Trigger): Item =>
  makeRow(keys.trigger(trigger.orgId, trigger.threadId, trigger.id), {
    ...plain(trigger),
    ownerPk: owner.triggers(trigger.orgId),
    ownerSk: trigger.id,
  });

/** Says that an Eval has to look at a Trigger; the Trigger's own row decides. */
export const pendingItem = ({ orgId, threadId, id, revision }: Trigger): Item =>
  makeRow(keys.pendingTrigger(orgId, threadId, id), { triggerId: id, revision });

/** Longer names are shortened to a hash, so that a sort key stays below its 1,024 bytes however they are encoded. */
const LONGEST_NAME = 200;

const nameOf = (name: string): string =>
  name.length <= LONGEST_NAME ? name : `sha256:${createHash('sha256').update(name).digest('hex')}`;

/** Where a provider's name of a discussion leads. */
export const threadAlias = (orgId: string, sourceId: string, key: string): Key =>
  keys.alias(orgId, sourceId, nameOf(key));

/** Where a provider's name of an object leads: one object is one Trigger, whatever tells of it and however often. */
export const objectAlias = (orgId: string, sourceId: string, objectId: string): Key =>
  keys.alias(orgId, sourceId, `object:${nameOf(objectId)}`);

const aliasSchema = z.object({
  threadId: z.string().optional(),
  triggerId: z.string().optional(),
  /** The object was deleted; without a Trigger, before it was ever heard of. */
  gone: z.number().optional(),
});
export type Alias = z.output<typeof aliasSchema>;

/** @throws UnreadableRow */
export const readAlias = (item: Item): Alias => readRow(aliasSchema, item);

export const aliasItem = (key: Key, alias: Alias): Item => makeRow(key, plain(alias));

/** A decision in the organisation's list of them, beside the copy on the Trigger. */
const decisionRowSchema = decisionSchema.extend({
  id: z.string(),
  orgId: z.string(),
  threadId: z.string(),
  triggerId: z.string(),
  revision: z.int().min(1),
  /** Any word: a newer version may know more. */
  decision: z.string(),
});
export type DecisionRow = z.output<typeof decisionRowSchema>;

/** @throws UnreadableRow */
export const readDecision = (item: Item): DecisionRow => readRow(decisionRowSchema, item);

export const decisionItem = (
  id: string,
  { orgId, threadId, id: triggerId, revision }: Trigger,
  decision: Decision,
): Item => makeRow(keys.decision(orgId, id), plain({ ...decision, id, orgId, threadId, triggerId, revision }));

export const asValue = (value: object): Value => plain(value) as Value;
