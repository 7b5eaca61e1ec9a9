import { keys } from '../../kernel/keys.ts';
import {
  add,
  and,
  eq,
  missing,
  or,
  remove,
  set,
  type Table,
  TransactionRefused,
  type Write,
} from '../../kernel/table.ts';
import { ROW_VERSION } from '../../tenancy/row.ts';
import { type Facts, sendsWith, type Verdict } from './judge.ts';
import { unchanged } from './outcome.ts';
import type { Posting } from './posting.ts';
import { LEASE_MS, setMark } from './timing.ts';

/** Made under the lease that it names. */
export interface Claimed {
  readonly posting: Posting;
  readonly owner: string;
  readonly epoch: number;
}

type Send = Extract<Verdict, { do: 'send' }>;

/**
 * Takes the posting for one attempt, if everything that allowed it still stands: the row as it was read, the ticket with its
 * mandate, the Thread's replies of this hour. So a stop that came first is never overtaken by a reply that was queued (I9).
 * @returns `undefined` when something has moved: it is judged anew
 */
export const claim = async (
  table: Table,
  posting: Posting,
  facts: Facts,
  verdict: Send,
  owner: string,
  now: number,
): Promise<Claimed | undefined> => {
  const { orgId, id } = posting;
  const epoch = posting.epoch + 1;
  const triedAt = posting.triedAt ?? now;
  const attempts = posting.attempts + 1;
  const writes: Write[] = [
    {
      update: keys.posting(orgId, id),
      changes: [
        set('state', 'sending'),
        set('owner', owner),
        set('epoch', epoch),
        set('leaseUntil', now + LEASE_MS),
        set('attempts', attempts),
        set('triedAt', triedAt),
        set('negatives', 0),
        remove('notBefore'),
        ...setMark(id, now + LEASE_MS),
      ],
      if: unchanged(posting),
    },
    ...threadWrites(facts, verdict, now),
    ...(facts.ticket === undefined
      ? []
      : [
          {
            check: keys.ticket(orgId, facts.ticket.id),
            if: and(eq('v', ROW_VERSION), eq('version', facts.ticket.version)),
          },
        ]),
  ];
  try {
    await table.transact(writes);
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error;
    // The client did not hear the answer and asked again: refused by its own claim, it holds the posting.
    if (error.items[0]?.owner !== owner) return undefined;
  }
  return {
    posting: {
      ...posting,
      state: 'sending',
      owner,
      epoch,
      attempts,
      triedAt,
      negatives: 0,
      leaseUntil: now + LEASE_MS,
    },
    owner,
    epoch,
  };
};

/** No other reply was counted since the Thread was read. */
export const sameSends = (sendCount: number | undefined) =>
  sendCount === undefined ? missing('sendCount') : eq('sendCount', sendCount);

const threadWrites = ({ thread }: Facts, { counts, unmuted }: Send, now: number): readonly Write[] => {
  if (thread === undefined || (!counts && !unmuted)) return [];
  const key = keys.thread(thread.orgId, thread.id);
  const mayTalk = unmuted ? [missing('mutedSince')] : [];
  if (!counts) return [{ check: key, if: and(eq('v', ROW_VERSION), ...mayTalk) }];
  return [
    {
      update: key,
      changes: [set('sends', sendsWith(thread, now)), add('sendCount', 1)],
      if: and(eq('v', ROW_VERSION), or(sameSends(thread.sendCount)), ...mayTalk),
    },
  ];
};
