/** What of the outbox asks for a person. */
import { type Cause, closeAttention, openAttention } from '../../attention/attention.ts';
import type { Write } from '../../kernel/table.ts';
import type { Thread } from '../thread/thread.ts';
import type { Reason } from './judge.ts';
import type { Posting } from './posting.ts';

const undelivered = ({ orgId, id }: Posting, at: number): Cause => ({
  orgId,
  kind: 'effect_undelivered',
  subject: { type: 'effect', id },
  at,
});

const EXCERPT = 300;
const excerpt = (text: string): string =>
  text.length <= EXCERPT ? text : `${text.slice(0, EXCERPT).toWellFormed()} …`;

const actionsFor = (postingId: string, first: 'retry' | 'release', label: string) => [
  { label, method: 'POST' as const, path: `/v1/effects/${postingId}/${first}` },
  { label: 'Drop it', method: 'POST' as const, path: `/v1/effects/${postingId}/drop` },
];

/** It could not be said where it belongs, and it is said nowhere else (router-bugs E47). */
export const openUndelivered = (posting: Posting, reason: Reason, now: number): Write =>
  openAttention({
    ...undelivered(posting, now),
    question: `A ${posting.kind === 'review_request' ? 'request for a review' : 'reply'} could not be delivered: ${reason.message}${posting.body === '' ? '' : `\n\n${excerpt(posting.body)}`}`,
    url: `/v1/effects/${posting.id}`,
    actions: actionsFor(posting.id, 'retry', 'Try again'),
  });

/** For whoever takes it up again or drops it. */
export const closeUndelivered = (posting: Posting): readonly Write[] =>
  posting.attentionAt === undefined ? [] : [closeAttention(undelivered(posting, posting.attentionAt))];

const mutedCause = ({ orgId, id }: Pick<Thread, 'orgId' | 'id'>, at: number): Cause => ({
  orgId,
  kind: 'thread_muted',
  subject: { type: 'thread', id },
  at,
});

/** @param posting the first one that is held */
export const openMuted = (thread: Thread, posting: Posting, reason: Reason, now: number): Write =>
  openAttention({
    ...mutedCause(thread, now),
    question: `${excerpt(thread.title)}: ${reason.message}`,
    url: `/v1/threads/${thread.id}`,
    actions: actionsFor(posting.id, 'release', 'Let it go on'),
  });

export const closeMuted = (thread: Thread): readonly Write[] =>
  thread.mutedSince === undefined ? [] : [closeAttention(mutedCause(thread, thread.mutedSince))];
