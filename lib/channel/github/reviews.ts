/**
 * Reviews with their notes. GitHub tells of a review and of each note in it by events of their own; all of them lead to
 * one Trigger, the review, whose text is read from the API. The payload alone stands in where there is no access.
 */
import * as z from 'zod';
import { type Provider, ProviderError, type Resolution } from '../../router/channel.ts';
import { basis, type Context, defineEvent, drop, OWN, outcomes, ownComment } from './event.ts';
import {
  actorOf,
  authorBeside,
  isSelf,
  type Pull,
  pull,
  type Repository,
  repository,
  threadOfPull,
  time,
  type User,
  user,
  viaApp,
} from './payload.ts';

const review = z.object({
  id: z.int(),
  user,
  body: z.string().nullish(),
  state: z.string(),
  commit_id: z.string().nullish(),
  html_url: z.string().optional(),
  author_association: z.string().optional(),
  submitted_at: time,
});
type Review = z.output<typeof review>;

const note = z.object({
  id: z.int(),
  body: z.string().nullish(),
  path: z.string(),
  line: z.int().nullish(),
  original_line: z.int().nullish(),
  in_reply_to_id: z.int().nullish(),
});
type Note = z.output<typeof note>;

/** A page of the API; a review with more notes is shown with the first ones. */
const MOST_NOTES = 100;

const reviewSchema = z.object({ action: z.string(), review, pull_request: pull, repository, sender: user });

export const pullRequestReview = defineEvent({
  actions: ['submitted', 'edited', 'dismissed'],
  schema: reviewSchema,
  drop: ({ review: { user: author }, sender }, source) =>
    isSelf(author, source) || isSelf(sender, source) ? OWN : undefined,
  read: (payload, context) => fold({ ...payload, told: payload.review, reviewId: payload.review.id }, context),
});

const noteSchema = z.object({
  action: z.string(),
  comment: note.extend({
    user,
    pull_request_review_id: z.int().nullish(),
    performed_via_github_app: viaApp,
    html_url: z.string().optional(),
    author_association: z.string().optional(),
    created_at: time,
    updated_at: time,
  }),
  pull_request: pull,
  repository,
  sender: user,
});
type NotePayload = z.output<typeof noteSchema>;

export const pullRequestReviewComment = defineEvent({
  actions: ['created', 'edited', 'deleted'],
  schema: noteSchema,
  drop: ownComment,
  read: (payload, context) => {
    const reviewId = payload.comment.pull_request_review_id;
    if (reviewId === null || reviewId === undefined) return alone(payload, context);
    return fold({ ...payload, told: undefined, reviewId, note: payload }, context);
  },
});

interface Told {
  readonly action: string;
  readonly pull_request: Pull;
  readonly repository: Repository;
  readonly sender?: User;
  readonly reviewId: number;
  /** The review, where the event is its own. */
  readonly told: Review | undefined;
  /** The event of a note. */
  readonly note?: NotePayload;
}

const fold = async (event: Told, context: Context): Promise<Resolution> => {
  const found = await find(event, context);
  const thread = threadOfPull(event.repository, event.pull_request);
  const objectId = `review/${event.reviewId}`;
  const { receivedAt } = context.received;
  if (found === 'gone') return outcomes({ make: 'withdraw', threadKey: thread.key, objectId, at: receivedAt });
  if (found === 'hidden') {
    return event.note === undefined ? drop('no_access', 'The review cannot be read.') : alone(event.note, context);
  }
  const { shown, notes } = found;
  // A pending review is nobody's word yet; one whose notes were all deleted says nothing any more.
  if (shown.state.toLowerCase() === 'pending') return drop('pending_review', 'The review is not submitted yet.');
  if (shown.state.toLowerCase() === 'commented' && notes.length === 0 && (shown.body ?? '').trim() === '') {
    return outcomes({ make: 'withdraw', threadKey: thread.key, objectId, at: receivedAt });
  }
  const edited = event.action !== 'submitted' && event.action !== 'created';
  const [only] = notes;
  const root = notes.length === 1 && (shown.body ?? '').trim() === '' ? (only?.in_reply_to_id ?? only?.id) : undefined;
  return outcomes({
    make: 'trigger',
    thread,
    trigger: {
      ...basis(context, 'pull_request_review', edited ? editedAt(event) : shown.submitted_at),
      objectId,
      kind: 'review',
      actor: actorOf(event.sender, shown.author_association),
      ...authorBeside(shown.user, event.sender),
      text: textOf(shown, notes),
      // A single note is answered where it stands; several are answered in the conversation.
      replyTo: { ...thread.replyTo, ...(root !== undefined && { root: String(root) }) },
      repositoryId: String(event.repository.id),
      ...(shown.html_url !== undefined && { url: shown.html_url }),
    },
    edited,
  });
};

/** GitHub gives no time of an edit of a review; that of the pull request moves with it. */
const editedAt = ({ note: told, pull_request: { updated_at: touched } }: Told): number | undefined =>
  told?.action === 'edited' ? told.comment.updated_at : touched;

type Found = { readonly shown: Review; readonly notes: readonly Note[] } | 'gone' | 'hidden';

const find = async (event: Told, { source, ask }: Context): Promise<Found> => {
  if (source.signsInBy === 'none') return event.told === undefined ? 'hidden' : { shown: event.told, notes: [] };
  try {
    return await read(event, await ask(String(event.repository.id)));
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.kind === 'gone') return 'gone';
    if (error.kind !== 'refused') throw error;
    return event.told === undefined ? 'hidden' : { shown: event.told, notes: [] };
  }
};

/** Both from the API, also where the event shows the review: all events of one review must make the same text. */
const read = async (event: Told, provider: Pick<Provider, 'get'>) => {
  const at = String(event.repository.id);
  const path = `pulls/${event.pull_request.number}/reviews/${event.reviewId}`;
  const [shown, notes] = await Promise.all([
    provider.get(at, path),
    provider.get(at, `${path}/comments`, { per_page: String(MOST_NOTES) }),
  ]);
  return { shown: review.parse(shown), notes: z.array(note).parse(notes) };
};

const LINES: { readonly [state: string]: string } = {
  approved: 'Review: approved',
  changes_requested: 'Review: changes requested',
  dismissed: 'Review: dismissed',
};

const textOf = ({ state, body, commit_id: commit }: Review, notes: readonly Note[]): string =>
  [
    `${LINES[state.toLowerCase()] ?? 'Review: comments'}${commit ? `, of commit ${commit.slice(0, 12)}` : ''}.`,
    body ?? '',
    ...[...notes].sort((a, b) => a.id - b.id).map(noteText),
  ]
    .filter((part) => part.trim() !== '')
    .join('\n\n');

const noteText = ({ id, path, line, original_line: was, body }: Note): string =>
  `Note ${id} on ${path}${line || was ? ` line ${line ?? was}` : ''}:\n\n${body ?? ''}`;

/** A note of which only its own event is known. */
const alone = (payload: NotePayload, context: Context): Resolution => {
  const { comment, sender, action } = payload;
  const thread = threadOfPull(payload.repository, payload.pull_request);
  const objectId = `review_comment/${comment.id}`;
  if (action === 'deleted') {
    return outcomes({ make: 'withdraw', threadKey: thread.key, objectId, at: context.received.receivedAt });
  }
  const edited = action === 'edited';
  return outcomes({
    make: 'trigger',
    thread,
    trigger: {
      ...basis(context, 'pull_request_review_comment', edited ? comment.updated_at : comment.created_at),
      objectId,
      kind: 'review',
      actor: actorOf(sender, comment.author_association),
      ...authorBeside(comment.user, sender),
      text: noteText(comment),
      replyTo: { ...thread.replyTo, root: String(comment.in_reply_to_id ?? comment.id) },
      repositoryId: String(payload.repository.id),
      ...(comment.html_url !== undefined && { url: comment.html_url }),
    },
    edited,
  });
};
