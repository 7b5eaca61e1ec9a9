/** When a posting is tried, looked for and looked after. All times in milliseconds. */
import { due } from '../../kernel/keys.ts';
import { type Change, remove, set } from '../../kernel/table.ts';
import type { Posting } from './posting.ts';

/** Longer than all requests of one attempt together (`ATTEMPT_MS`), so that two senders are never under way at once. */
export const LEASE_MS = 60_000;
/** A sender begins no write later than this after its claim; the request itself ends 15 s later at the latest. */
export const ATTEMPT_MS = 30_000;
/** What was perhaps done is looked for after so long: the provider's lists are not instantly up to date. */
export const DOUBT_MS = 60_000;
/** So many looks must find nothing before it is sent again. */
export const NEGATIVES = 2;
/** Clocks of the provider and of this machine may differ by so much. */
export const CLOCK_SLACK_MS = 300_000;
/** Given up after so long without success. */
export const TRIED_FOR_MS = 86_400_000;
/** How often what is held is looked at again. */
export const HELD_MS = 3_600_000;
/** The hour of the breaker. */
export const HOUR_MS = 3_600_000;
/** A message that came earlier than this before its time is a copy. */
export const EARLY_MS = 2_000;
/** A fresh wish whose message was lost is found after so long. */
export const FRESH_MS = 60_000;
/** And what was woken by its mark once, after so long again. */
export const STALL_MS = 600_000;
/** SQS delays a message for at most so long; what is due later is `tick`'s. */
export const LONGEST_DELAY_MS = 900_000;
/** Rows of what is out or given up are kept for so long. Documents are kept: their ticket may come back to them. */
export const KEPT_SECONDS = 90 * 86_400;

const FIRST_EFFECT_MS = 2_000;
const FIRST_REPLY_MS = 5_000;
const LONGEST_WAIT_MS = 2 * 3_600_000;

/**
 * Before the next attempt: exponential from 2 s for effects and 5 s for what people read (spec N12), spread over as much
 * again. A longer `Retry-After` wins, spread a little too, so that what it held back does not come back as one crowd.
 * @param attempts 1 after the first failure
 */
export const backoffMs = (
  { kind }: Pick<Posting, 'kind'>,
  attempts: number,
  random: number,
  retryAfterMs: number | undefined,
): number => {
  const first = kind === 'review_request' ? FIRST_EFFECT_MS : FIRST_REPLY_MS;
  const least = Math.min(LONGEST_WAIT_MS, first * 2 ** Math.min(20, attempts - 1));
  return Math.round(Math.max(least * (1 + random), (retryAfterMs ?? 0) + random * first));
};

/** Whole seconds until `atMs`, as SQS takes them. */
export const delayUntil = (atMs: number, now: number): number =>
  Math.min(LONGEST_DELAY_MS / 1000, Math.max(0, Math.ceil((atMs - now) / 1000)));

/** The mark by which `tick`, which comes every minute, finds it when no message did. */
export const markAt = (postingId: string, atMs: number): { readonly duePk: string; readonly dueSk: string } => ({
  duePk: due.pkOf('tick', postingId),
  dueSk: due.sk(atMs, postingId),
});

export const setMark = (postingId: string, atMs: number): readonly Change[] => {
  const mark = markAt(postingId, atMs);
  return [set('duePk', mark.duePk), set('dueSk', mark.dueSk)];
};
export const dropMark: readonly Change[] = [remove('duePk'), remove('dueSk')];
