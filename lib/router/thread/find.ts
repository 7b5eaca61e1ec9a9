/** Reading of Threads and Triggers by what the provider calls them, and by id. All strongly consistent. */
import { notFound } from '../../kernel/errors.ts';
import { keys } from '../../kernel/keys.ts';
import type { Table } from '../../kernel/table.ts';
import { type Alias, objectAlias, readAlias, threadAlias } from './rows.ts';
import { readThread, type Thread } from './thread.ts';
import { readTrigger, type Trigger } from './trigger.ts';

/** @throws UnreadableRow */
export const findThread = async (table: Table, orgId: string, threadId: string): Promise<Thread | undefined> => {
  const item = await table.get(keys.thread(orgId, threadId), { consistent: true });
  return item && readThread(item);
};

/** @throws AppError 404 */
export const getThread = async (table: Table, orgId: string, threadId: string): Promise<Thread> => {
  const thread = await findThread(table, orgId, threadId);
  if (thread === undefined) throw notFound('thread');
  return thread;
};

/** @throws UnreadableRow */
export const findTrigger = async (
  table: Table,
  orgId: string,
  threadId: string,
  triggerId: string,
): Promise<Trigger | undefined> => {
  const item = await table.get(keys.trigger(orgId, threadId, triggerId), { consistent: true });
  return item && readTrigger(item);
};

export interface Wanted {
  readonly orgId: string;
  readonly sourceId: string;
  /** The Thread's own key first; the others lead to the same discussion. */
  readonly threadKeys: readonly string[];
  readonly objectId?: string | undefined;
}

/** What is known of a discussion and of an object in it. */
export interface Known {
  readonly thread?: Thread | undefined;
  readonly trigger?: Trigger | undefined;
  /** The row under the object's own name. */
  readonly object?: Alias | undefined;
  /** Keys of the discussion that lead nowhere yet. */
  readonly unknownKeys: readonly string[];
}

/**
 * Two rounds to the table. An object stays in the Thread where it was first seen; a discussion with several keys is the
 * Thread of the first key that is known.
 * @throws UnreadableRow
 */
export const lookUp = async (table: Table, wanted: Wanted): Promise<Known> => {
  const { orgId, sourceId, objectId } = wanted;
  const threadKeys = [...new Set(wanted.threadKeys)];
  const names = threadKeys.map((key) => threadAlias(orgId, sourceId, key));
  const rows = await table.getMany(
    objectId === undefined ? names : [...names, objectAlias(orgId, sourceId, objectId)],
    { consistent: true },
  );
  const aliases = rows.map((row) => row && readAlias(row));
  const object = objectId === undefined ? undefined : aliases[threadKeys.length];
  const unknownKeys = threadKeys.filter((_, index) => aliases[index] === undefined);
  const threadId =
    object?.threadId ?? aliases.slice(0, threadKeys.length).find((alias) => alias !== undefined)?.threadId;
  if (threadId === undefined) return { object, unknownKeys };
  const triggerId = object?.triggerId;
  const [threadRow, triggerRow] = await table.getMany(
    [keys.thread(orgId, threadId), ...(triggerId === undefined ? [] : [keys.trigger(orgId, threadId, triggerId)])],
    { consistent: true },
  );
  return {
    thread: threadRow && readThread(threadRow),
    trigger: triggerRow && readTrigger(triggerRow),
    object,
    unknownKeys,
  };
};
