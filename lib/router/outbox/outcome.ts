/** What an attempt or a look leaves in the row, as pure rules. */
import { and, type Change, type Condition, eq, missing, or, remove, set } from '../../kernel/table.ts';
import { TABLE } from '../../names.ts';
import { ROW_VERSION } from '../../tenancy/row.ts';
import type { ProviderError } from '../channel.ts';
import type { Reason } from './judge.ts';
import type { Posting } from './posting.ts';
import { backoffMs, DOUBT_MS, dropMark, KEPT_SECONDS, setMark, TRIED_FOR_MS } from './timing.ts';

/** The row is as it was read, as far as a sender minds: nobody has claimed, moved or changed it since. */
export const unchanged = (posting: Posting): Condition => {
  const asRead = (path: string, value: string | number | undefined, fallback?: string | number): Condition => {
    if (value === undefined) return missing(path);
    return value === fallback ? or(missing(path), eq(path, value)) : eq(path, value);
  };
  return and(
    eq('v', ROW_VERSION),
    asRead('state', posting.state, 'pending'),
    asRead('epoch', posting.epoch, 0),
    asRead('desired', posting.desired),
    asRead('negatives', posting.negatives, 0),
  );
};

/** The lease is still the holder's. */
export const stillHeldBy = (owner: string, epoch: number): Condition =>
  and(eq('v', ROW_VERSION), eq('state', 'sending'), eq('owner', owner), eq('epoch', epoch));

const releaseLease: readonly Change[] = [remove('owner'), remove('leaseUntil')];

const kept = (posting: Posting, now: number): readonly Change[] =>
  posting.kind === 'document' ? [] : [set(TABLE.ttl, Math.floor(now / 1000) + KEPT_SECONDS)];

const atRest: readonly Change[] = [...releaseLease, ...dropMark, remove('notBefore'), remove('triedAt')];

/** It is out. `remote` is missing where there is nothing to remember. */
export const sentChanges = (
  posting: Posting,
  remote: { readonly id: string; readonly url?: string | undefined } | undefined,
  now: number,
): readonly Change[] => [
  set('state', 'sent'),
  set('sentAt', now),
  set('attempts', 0),
  set('negatives', 0),
  ...(posting.desired === undefined ? [] : [set('sentRevision', posting.desired)]),
  ...(remote === undefined ? [] : [set('remoteId', remote.id)]),
  ...(remote?.url === undefined ? [] : [set('remoteUrl', remote.url)]),
  remove('reason'),
  remove('triedSince'),
  remove('released'),
  ...atRest,
  ...kept(posting, now),
];

/** The same for a document that is wanted otherwise by now: it goes on at once. */
export const goOnChanges = (changes: readonly Change[], postingId: string, now: number): readonly Change[] => [
  ...changes.filter((change) => !['duePk', 'dueSk', 'state'].includes(change.path)),
  set('state', 'pending'),
  ...setMark(postingId, now),
];

export const buriedChanges = (posting: Posting, reason: Reason, tell: boolean, now: number): readonly Change[] => [
  set('state', 'dead'),
  set('reason', { ...reason }),
  ...(tell ? [set('attentionAt', now)] : []),
  ...atRest,
  ...kept(posting, now),
];

export const heldChanges = (posting: Posting, reason: Reason, until: number): readonly Change[] => [
  set('state', 'held'),
  set('reason', { ...reason }),
  ...releaseLease,
  ...setMark(posting.id, until),
];

/** What follows from an error of the provider. */
export type Failure =
  | { readonly then: 'retry'; readonly at: number; readonly changes: readonly Change[] }
  | { readonly then: 'bury'; readonly reason: Reason; readonly tell: boolean }
  /** The source itself is in trouble: it is taken out of service and the posting waits for it. */
  | { readonly then: 'source'; readonly reason: Reason };

/** Errors that are about the account or the installation and not about this one comment. */
const isSourceTrouble = ({ kind, code }: ProviderError): boolean =>
  kind === 'unauthorized' || code === 'suspended' || code === 'not_installed';

const MOST_MESSAGE = 500;
const reasonOf = (error: ProviderError): Reason => ({
  code: error.code ?? error.kind,
  message: error.message.slice(0, MOST_MESSAGE).toWellFormed(),
});

/**
 * @param posting as it was claimed
 * @param doing what the request was: a `create` whose answer is lost has to be looked for
 */
export const failureOf = (
  posting: Posting,
  error: ProviderError,
  doing: 'create' | 'edit' | 'request' | 'look',
  now: number,
  random: number,
): Failure => {
  const reason = reasonOf(error);
  if (isSourceTrouble(error)) return { then: 'source', reason };
  // A comment that somebody deleted is not written anew, and nobody has to hear of it.
  if (error.kind === 'gone') return { then: 'bury', reason, tell: doing !== 'edit' };
  if (error.kind === 'refused') return { then: 'bury', reason, tell: true };
  if (now >= (posting.triedSince ?? posting.createdAt) + TRIED_FOR_MS && error.kind !== 'unknown') {
    const message = `It was tried for a day. The last time: ${reason.message}`;
    return { then: 'bury', reason: { code: 'given_up', message }, tell: true };
  }
  const doubt = error.kind === 'unknown';
  const wait = backoffMs(posting, Math.max(1, posting.attempts), random, error.retryAfterMs);
  // An edit that is still on its way must not land after the next one.
  const at = now + (doubt ? Math.max(DOUBT_MS, wait) : wait);
  const state = doing === 'look' || (doubt && doing === 'create') ? 'unknown' : 'pending';
  const changes = [
    set('state', state),
    set('reason', { ...reason }),
    set('notBefore', at),
    ...releaseLease,
    ...setMark(posting.id, at),
  ];
  return { then: 'retry', at, changes };
};

/** A look found nothing. */
export const negativeChanges = (
  posting: Posting,
  now: number,
): { readonly at: number; readonly changes: readonly Change[] } => {
  const at = now + DOUBT_MS;
  return {
    at,
    changes: [
      set('state', 'unknown'),
      set('negatives', posting.negatives + 1),
      set('notBefore', at),
      ...releaseLease,
      ...setMark(posting.id, at),
    ],
  };
};
