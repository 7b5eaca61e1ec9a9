import { ifAllStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import { and, eq, missing } from '../../kernel/table.ts';
import { BUSY, MAX_TRIES } from './busy.ts';
import { deliver } from './deliver.ts';
import type { ThreadDeps } from './deps.ts';
import { lookUp } from './find.ts';
import { aliasItem, objectAlias, triggerItem } from './rows.ts';
import type { Trigger } from './trigger.ts';

export interface Withdrawal {
  readonly sourceId: string;
  readonly threadKey: string;
  readonly objectId: string;
  /** When the object was deleted, ms since the epoch. */
  readonly at: number;
}

export interface Withdrawn {
  readonly triggerId?: string;
  readonly threadId?: string;
}

/**
 * The object is gone. What was not decided is not decided any more; tickets that have it are told. An object that is not
 * known yet leaves a note, so that its creation, which comes later, finds it gone. As with `storeTrigger`, whoever calls
 * calls again until it returns.
 * @throws Error when others changed the Trigger each time that it was read
 */
export const withdrawTrigger = async (deps: ThreadDeps, orgId: string, gone: Withdrawal): Promise<Withdrawn> => {
  const { sourceId, threadKey, objectId } = gone;
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const { object, trigger } = await lookUp(deps.table, { orgId, sourceId, threadKeys: [threadKey], objectId });
    if (trigger === undefined) {
      const key = objectAlias(orgId, sourceId, objectId);
      if (object?.gone !== undefined) return {};
      if (await ifAllStill(deps.table, [{ put: aliasItem(key, { gone: gone.at }), if: missing('pk') }])) return {};
      continue;
    }
    // What a person has said stop with is obeyed, deleted or not.
    if (trigger.state === 'delivering' && trigger.gate.stop === true) {
      await deliver(deps, trigger);
      continue;
    }
    const withdrawn = trigger.state === 'withdrawn' ? trigger : await withdraw(deps, trigger);
    if (withdrawn === undefined) continue;
    if ((withdrawn.tickets ?? []).length > 0) await deps.desk.fanOut(withdrawn);
    return { triggerId: withdrawn.id, threadId: withdrawn.threadId };
  }
  throw new Error(BUSY);
};

const withdraw = async (deps: ThreadDeps, seen: Trigger): Promise<Trigger | undefined> => {
  const { orgId, threadId, id, decision } = seen;
  // While it is being handed on nobody knows yet who has it: all are told.
  const asked = seen.state === 'delivering' ? await subscribers(deps, seen) : (seen.tickets ?? []);
  const tickets = [...new Set([...asked, ...(decision?.ticketId === undefined ? [] : [decision.ticketId])])];
  const after: Trigger = {
    ...seen,
    state: 'withdrawn',
    withdrawn: true,
    revision: seen.revision + 1,
    ...(tickets.length > 0 && { tickets }),
  };
  const done = await ifAllStill(deps.table, [
    { put: triggerItem(after), if: and(eq('revision', seen.revision), eq('state', seen.state)) },
    { delete: keys.pendingTrigger(orgId, threadId, id) },
  ]);
  return done ? after : undefined;
};

const subscribers = async ({ table }: ThreadDeps, { orgId, threadId }: Trigger): Promise<readonly string[]> => {
  const page = await table.query({ ...keys.subscriptions(orgId, threadId), consistent: true });
  return page.items.map(({ sk }) => sk.slice(sk.indexOf('#') + 1));
};
