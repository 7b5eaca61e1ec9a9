import { keys, LAST } from '../../kernel/keys.ts';
import type { Thread } from '../thread/thread.ts';
import type { Trigger } from '../thread/trigger.ts';
import type { Standing } from './commit.ts';
import type { AssessDeps } from './deps.ts';
import { readStoredReply, type StoredReply } from './stored-reply.ts';

export interface Resumed {
  readonly triggers: readonly Trigger[];
  readonly basis: StoredReply['basis'];
  readonly bought: readonly StoredReply[];
}

/** Claims before this one whose replies are looked at. */
const EPOCHS_BACK = 5;
const MOST_REPLIES = 100;

const signOf = ({ id, revision, rounds }: Trigger): string => `${id} ${revision} ${rounds}`;

/**
 * What earlier holders have bought and not come to use: a reply is used again only for what it was about, under the same
 * policy, subscriptions and model. Nothing is read where the Thread's last Eval came to its end.
 */
export const resume = async (
  { table }: AssessDeps,
  claimed: Thread,
  { thread, policy }: Standing,
  model: string,
  pending: readonly Trigger[],
): Promise<Resumed> => {
  const basis = {
    policyVersion: policy.version,
    subscriptions: thread.subscriptions,
    model,
    triggers: pending.map(signOf),
  };
  const fresh: Resumed = { triggers: pending, basis, bought: [] };
  if (claimed.attempts <= 1) return fresh;
  const { orgId, id } = thread;
  const first = keys.evalReplies(orgId, id, Math.max(0, claimed.epoch - EPOCHS_BACK));
  const last = keys.evalReplies(orgId, id, claimed.epoch);
  const page = await table.query({
    pk: first.pk,
    from: first.prefix,
    to: `${last.prefix}${LAST}`,
    newestFirst: true,
    limit: MOST_REPLIES,
    consistent: true,
  });
  const replies = page.items.map(readStoredReply).reverse();
  const old = replies.at(-1)?.basis;
  if (old === undefined) return fresh;
  const same =
    old.policyVersion === basis.policyVersion && old.subscriptions === basis.subscriptions && old.model === model;
  // Those that were decided before the holder died are not pending any more.
  const triggers = pending.filter((trigger) => old.triggers.includes(signOf(trigger)));
  if (!same || triggers.length === 0) return fresh;
  const bought = replies.filter((reply) => JSON.stringify(reply.basis) === JSON.stringify(old));
  return { triggers, basis: old, bought };
};
