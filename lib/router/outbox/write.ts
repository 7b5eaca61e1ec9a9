/**
 * Postings are written in the transaction of their cause: store, then act. These make the rows; `wakePostings` sends the
 * messages after it, and the rows' marks find them when that is lost.
 */
import { derivedId } from '../../kernel/ids.ts';
import { keys, owner } from '../../kernel/keys.ts';
import type { Log, Queue } from '../../kernel/ports.ts';
import { add, type Change, missing, set, type Value, type Write } from '../../kernel/table.ts';
import { TABLE } from '../../names.ts';
import { makeRow, ROW_VERSION } from '../../tenancy/row.ts';
import type { Verb } from '../mandate/mandate.ts';
import type { PostingMessage } from '../message.ts';
import type { ReplyTo } from '../thread/trigger.ts';
import type { Ticket } from '../ticket/ticket.ts';
import { demandAuthority, type Place } from './authority.ts';
import { FRESH_MS, markAt, setMark } from './timing.ts';

/** A row, or several, and the id that wakes it. */
export interface Written {
  readonly postingId: string;
  readonly writes: readonly Write[];
}

type Author = Pick<Ticket, 'id' | 'mandate' | 'threads' | 'createdAt'>;

interface Said {
  readonly orgId: string;
  readonly place: Place;
  /** What makes it the same posting when it is written twice: `report tkt_… 3`. Any text. */
  readonly cause: string;
  /** Now, ms. */
  readonly at: number;
  /** A time that the cause keeps, so that the same cause makes the same id whenever it is written; now if left out. */
  readonly causeAt?: number | undefined;
  /** When what it answers was said: it goes out although the discussion was closed before that, and not where it was closed after. */
  readonly askedAt?: number | undefined;
}

export interface NewPost extends Said {
  /** Missing: an answer without a ticket, for which the decision stands that it is written with. */
  readonly ticket?: Author | undefined;
  /** Markdown. */
  readonly body: string;
}

export interface NewReviewRequest extends Said {
  readonly ticket: Author;
  /** Logins. */
  readonly reviewers: readonly string[];
}

/** GitHub takes 65,536 characters; what the adapter adds needs some of them. Others take less and cut for themselves. */
const MOST_BODY = 60_000;
const CUT = '\n\n… (cut)';

/** At most so many characters, no half of one. */
export const withinLimit = (text: string, most = MOST_BODY): string => {
  const well = text.toWellFormed();
  return well.length <= most ? well : `${well.slice(0, most - CUT.length).toWellFormed()}${CUT}`;
};

const replyToValue = ({ thread, root }: ReplyTo): { [name: string]: Value } => ({
  thread,
  ...(root !== undefined && { root }),
});

const attributesOf = (postingId: string, said: Omit<Said, 'cause' | 'causeAt'>, ticket: Author | undefined) => ({
  id: postingId,
  orgId: said.orgId,
  sourceId: said.place.sourceId,
  threadId: said.place.threadId,
  replyTo: replyToValue(said.place.replyTo),
  ticketId: ticket?.id,
  mandateId: ticket?.mandate.id,
  key: postingId,
  askedAt: said.askedAt,
  [TABLE.byOwner.pk]: owner.postings(said.orgId),
  [TABLE.byOwner.sk]: postingId,
});

const written = (
  said: Said,
  ticket: Author | undefined,
  what: { readonly kind: string; readonly verb: Verb; readonly [name: string]: Value },
): Written => {
  const postingId = derivedId(
    'eff',
    said.causeAt ?? said.at,
    `${said.orgId} ${what.kind} ${said.place.threadId} ${said.cause}`,
  );
  const item = makeRow(keys.posting(said.orgId, postingId), {
    ...attributesOf(postingId, said, ticket),
    ...what,
    state: 'pending',
    createdAt: said.at,
    ...markAt(postingId, said.at + FRESH_MS),
  });
  // A cause that is written twice must never bring a row back that was sent already.
  return { postingId, writes: [{ put: item, if: missing('pk') }] };
};

/**
 * A comment of its own, where a person must be notified, or an answer without a ticket.
 * @throws OutsideMandate
 */
export const postingWrites = (post: NewPost): Written => {
  if (post.ticket !== undefined) demandAuthority(post.ticket, 'comment', post.place);
  return written(post, post.ticket, { kind: 'post', verb: 'comment', body: withinLimit(post.body) });
};

/**
 * Asks people for a review of the pull request that the Thread is.
 * @throws OutsideMandate
 */
export const reviewRequestWrites = (request: NewReviewRequest): Written => {
  demandAuthority(request.ticket, 'pr', request.place);
  return written(request, request.ticket, {
    kind: 'review_request',
    verb: 'pr',
    body: '',
    reviewers: [...request.reviewers],
  });
};

export interface DocumentWish extends Omit<Said, 'cause' | 'causeAt'> {
  readonly ticket: Author;
  /** Replaces the text; the first one creates the comment. */
  readonly body?: string;
  /** Replaces the line below it; alone it creates nothing. */
  readonly note?: string;
}

/** One per ticket and place: the discussion itself, or one thread of notes within it. */
export const documentIdOf = (orgId: string, ticket: Pick<Ticket, 'id' | 'createdAt'>, place: Place): string =>
  derivedId(
    'eff',
    ticket.createdAt,
    `${orgId} document ${ticket.id} ${place.threadId} ${JSON.stringify(place.replyTo.root ?? '')}`,
  );

/**
 * The ticket's one comment in a Thread is to read otherwise. An update without a condition: it makes the row when there is
 * none, is never refused, and leaves to the sender what is the sender's. It must not be written twice for one cause; the
 * guard of that is the cause's own.
 * @throws OutsideMandate
 */
export const documentWrites = (wish: DocumentWish): Written => {
  const { ticket, place, at } = wish;
  demandAuthority(ticket, 'comment', place);
  const postingId = documentIdOf(wish.orgId, ticket, place);
  const attributes = { ...attributesOf(postingId, wish, ticket), kind: 'document', verb: 'comment', v: ROW_VERSION };
  const changes: Change[] = Object.entries({ ...attributes, createdAt: ticket.createdAt })
    .filter((entry): entry is [string, NonNullable<(typeof entry)[1]>] => entry[1] !== undefined)
    .map(([name, value]) => set(name, value));
  if (wish.body !== undefined) changes.push(set('body', withinLimit(wish.body)));
  if (wish.note !== undefined) changes.push(set('note', withinLimit(wish.note, 2_000)));
  changes.push(add('desired', 1), ...setMark(postingId, at + FRESH_MS));
  return { postingId, writes: [{ update: keys.posting(wish.orgId, postingId), changes }] };
};

/** Sends the wake-ups. A lost one is found by the row's mark, so nothing fails for it. */
export const wakePostings = async (
  deps: { readonly postings: Queue<PostingMessage>; readonly log: Log },
  orgId: string,
  postingIds: readonly string[],
): Promise<void> => {
  const sent = postingIds.map((postingId) =>
    deps.postings.send({ orgId, postingId }, { delaySeconds: 0, tenant: orgId }),
  );
  for (const result of await Promise.allSettled(sent)) {
    if (result.status === 'rejected') {
      deps.log.warn('A posting could not be woken; its mark will.', { error: String(result.reason) });
    }
  }
};
