/** What a sender does with a posting, as a pure rule over what it has read. */
import type { Source } from '../source/source.ts';
import type { Thread } from '../thread/thread.ts';
import type { Ticket } from '../ticket/ticket.ts';
import { refusalOf } from './authority.ts';
import { isAtRest, type Posting } from './posting.ts';
import { EARLY_MS, HELD_MS, HOUR_MS, NEGATIVES } from './timing.ts';

/** What a sender has read, all of it strongly. */
export interface Facts {
  readonly thread: Thread | undefined;
  readonly source: Source | undefined;
  /** Of a posting that names one. */
  readonly ticket: Ticket | undefined;
  readonly repliesPerHour: number;
}

export interface Reason {
  readonly code: string;
  readonly message: string;
}

export type Verdict =
  /** Nothing is to be done any more. */
  | { readonly do: 'rest' }
  /** Somebody else is at it, or its time has not come: its mark or another message brings it back; `until`: not before that. */
  | { readonly do: 'wait'; readonly until?: number }
  /** Held back until what holds it is gone; `mute`: and the Thread is muted from now on. */
  | { readonly do: 'hold'; readonly reason: Reason; readonly mute: boolean }
  /** Given up. `tell`: a person is told. */
  | { readonly do: 'bury'; readonly reason: Reason; readonly tell: boolean }
  /** It may be out already: look first. */
  | { readonly do: 'look'; readonly source: Source }
  | {
      readonly do: 'send';
      readonly how: 'create' | 'edit' | 'request';
      readonly source: Source;
      /** Takes one of the Thread's replies of this hour. */
      readonly counts: boolean;
      /** Needs a Thread that is not muted. */
      readonly unmuted: boolean;
    };

/** A person may comment and close in one go; what was asked so shortly before is still answered. */
const CLOSED_SLACK_MS = 60_000;

const howOf = (posting: Posting): 'create' | 'edit' | 'request' => {
  if (posting.kind === 'review_request') return 'request';
  return posting.kind === 'document' && posting.remoteId !== undefined ? 'edit' : 'create';
};

/** True when an attempt may have reached the provider and a second one would be seen as a second comment. */
const inDoubt = (posting: Posting, now: number): boolean =>
  howOf(posting) === 'create' &&
  (posting.state === 'unknown' || (posting.state === 'sending' && (posting.leaseUntil ?? 0) <= now));

const recentSends = (thread: Thread, now: number): number[] => thread.sends.filter((at) => at > now - HOUR_MS);

/** The Thread's replies of this hour with one more, which is all that the breaker needs to remember. */
export const sendsWith = (thread: Thread, now: number): number[] => [...recentSends(thread, now), now];

/** Replies about what is closed would go on for ever (router-bugs A7); what was asked there afterwards is answered. */
const isMoot = ({ askedAt, released }: Posting, thread: Thread): boolean => {
  const { subject } = thread;
  if (subject === undefined || subject.state === 'open' || subject.state === 'gone' || released === true) return false;
  return askedAt === undefined || askedAt + CLOSED_SLACK_MS < subject.at;
};

export const judge = (posting: Posting, facts: Facts, now: number): Verdict => {
  if (isAtRest(posting)) return { do: 'rest' };
  if (posting.state === 'sending' && (posting.leaseUntil ?? 0) > now) return { do: 'wait' };
  if ((posting.notBefore ?? 0) > now + EARLY_MS) return { do: 'wait' };
  if (posting.state === 'held' && posting.reason?.code === 'restored') return { do: 'wait', until: now + HELD_MS };
  const { source } = facts;
  if (inDoubt(posting, now) && posting.negatives < NEGATIVES && source !== undefined && source.state !== 'gone') {
    // A doubt outlasts the trouble of its source: to forget it would be to say it twice.
    return source.state === 'active' ? { do: 'look', source } : { do: 'wait', until: now + HELD_MS };
  }
  return judgeFresh(posting, facts, now);
};

const bury = (code: string, message: string, tell: boolean): Verdict => ({
  do: 'bury',
  reason: { code, message },
  tell,
});

const judgeFresh = (posting: Posting, facts: Facts, now: number): Verdict => {
  const { thread, source, ticket } = facts;
  if (posting.ticketId !== undefined) {
    const refused = refusedBy(posting, ticket, thread);
    if (refused !== undefined) return refused;
  }
  if (thread === undefined) return bury('thread_gone', 'The discussion is not known any more.', true);
  if (thread.subject?.state === 'gone') return bury('gone', 'What is discussed was deleted.', false);
  if (source === undefined || source.state === 'gone') return bury('source_gone', 'The source was removed.', false);
  if (source.state !== 'active') {
    const message = `The source is ${source.state}${source.reason === undefined ? '' : `: ${source.reason}`}.`;
    return { do: 'hold', reason: { code: 'source', message }, mute: false };
  }
  const how = howOf(posting);
  if (how === 'edit') return { do: 'send', how, source, counts: false, unmuted: false };
  if (isMoot(posting, thread)) {
    return bury('subject_closed', `It is ${thread.subject?.state} and nothing was asked since.`, false);
  }
  if (posting.released === true) return { do: 'send', how, source, counts: posting.attempts === 0, unmuted: false };
  return judgeBreaker(
    posting,
    thread,
    { do: 'send', how, source, counts: posting.attempts === 0, unmuted: true },
    facts,
    now,
  );
};

const refusedBy = (posting: Posting, ticket: Ticket | undefined, thread: Thread | undefined): Verdict | undefined => {
  if (ticket === undefined || ticket.mandate.id !== posting.mandateId) {
    return bury('outside_mandate', 'The ticket that wanted it is not there.', false);
  }
  const { threadId, sourceId, replyTo, verb } = posting;
  const refusal = refusalOf(ticket, verb, { threadId, sourceId, replyTo, repositoryId: thread?.repositoryId });
  return refusal === undefined ? undefined : bury(refusal.code, refusal.message, false);
};

/** The eleventh reply within an hour looks like a conversation of machines (router-bugs A1): a person decides. */
const judgeBreaker = (
  posting: Posting,
  thread: Thread,
  go: Verdict,
  { repliesPerHour }: Facts,
  now: number,
): Verdict => {
  const muted = thread.mutedSince !== undefined;
  const full = posting.attempts === 0 && recentSends(thread, now).length >= repliesPerHour;
  if (!muted && !full) return go;
  const message = `There were ${repliesPerHour} replies within an hour; the discussion is muted until a person lets it go on.`;
  return { do: 'hold', reason: { code: 'breaker', message }, mute: !muted };
};
