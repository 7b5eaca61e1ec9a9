import * as z from 'zod';
import type { Outcome } from '../../router/channel.ts';
import type { NewThread } from '../../router/thread/thread.ts';
import type { NewTrigger } from '../../router/thread/trigger.ts';
import { basis, type Context, defineEvent, drop, outcomes } from './event.ts';
import { ourHandle, subject } from './issues.ts';
import { isTextEdit, label, ownWords, textEdits } from './opened.ts';
import { actorOf, authorBeside, isSelf, pull, repository, threadOfPull, titled, user } from './payload.ts';

const schema = z.object({
  action: z.string(),
  pull_request: pull,
  label: label.optional(),
  assignee: user,
  requested_reviewer: user,
  changes: textEdits.nullish(),
  repository,
  sender: user,
});
type Payload = z.output<typeof schema>;

const NOT_WORDS = ['closed', 'reopened'];

export const pullRequest = defineEvent({
  actions: [
    'opened',
    'edited',
    'labeled',
    'assigned',
    'review_requested',
    'ready_for_review',
    'synchronize',
    ...NOT_WORDS,
  ],
  schema,
  drop: ({ action, pull_request: { user: author }, sender }, source) =>
    NOT_WORDS.includes(action) ? undefined : ownWords(action, author, sender, source),
  read: (payload, context) => {
    const what = payload.pull_request;
    const thread = threadOfPull(payload.repository, what);
    switch (payload.action) {
      case 'opened':
        return outcomes(
          subject(thread, 'open', what.created_at, context),
          said(payload, thread, context, what.created_at),
        );
      case 'edited':
        return isTextEdit(payload.changes, what)
          ? outcomes(said(payload, thread, context, what.updated_at))
          : drop('unchanged', 'The edit left the text as it was.');
      case 'closed': {
        const at = what.merged_at ?? what.closed_at ?? what.updated_at;
        return outcomes(subject(thread, what.merged === true ? 'merged' : 'closed', at, context));
      }
      case 'reopened':
        return outcomes(subject(thread, 'open', what.updated_at, context));
      case 'labeled':
        return payload.label === undefined
          ? drop('label_deleted', 'The label is not there any more.')
          : outcomes(
              done(payload, thread, context, {
                name: `label/${payload.label.id}`,
                kind: 'label',
                text: `Label added: ${payload.label.name}`,
              }),
            );
      case 'synchronize':
        return outcomes(
          done(payload, thread, context, {
            name: `head/${what.head.sha}`,
            kind: 'push',
            text: `New commits: the head is ${what.head.sha} now.`,
          }),
        );
      case 'ready_for_review':
        return outcomes(
          done(payload, thread, context, { name: 'ready', kind: 'pull_request', text: 'It is ready for review.' }),
        );
      default:
        return asked(payload, thread, context);
    }
  },
});

const common = (payload: Payload, thread: NewThread, context: Context, at: number | undefined) => ({
  ...basis(context, 'pull_request', at),
  replyTo: thread.replyTo,
  repositoryId: String(payload.repository.id),
  ...(payload.pull_request.html_url !== undefined && { url: payload.pull_request.html_url }),
});

const said = (payload: Payload, thread: NewThread, context: Context, at: number | undefined): Outcome => {
  const { pull_request: what, sender, action } = payload;
  return {
    make: 'trigger',
    thread,
    trigger: {
      ...common(payload, thread, context, at),
      objectId: `pull_request/${what.id}`,
      kind: 'pull_request',
      actor: actorOf(sender, what.author_association),
      ...authorBeside(what.user, sender),
      text: titled(what.title, what.body),
    },
    edited: action === 'edited',
  };
};

/** Something that was done to it, as an object of its own. */
const done = (
  payload: Payload,
  thread: NewThread,
  context: Context,
  { name, kind, text }: { readonly name: string } & Pick<NewTrigger, 'kind' | 'text'>,
): Outcome => ({
  make: 'trigger',
  thread,
  trigger: {
    ...common(payload, thread, context, payload.pull_request.updated_at),
    objectId: `pull_request/${payload.pull_request.id}/${name}`,
    kind,
    actor: actorOf(payload.sender),
    text,
  },
  edited: false,
});

const asked = (payload: Payload, thread: NewThread, context: Context) => {
  const assigned = payload.action === 'assigned';
  if (!isSelf(assigned ? payload.assignee : payload.requested_reviewer, context.source)) {
    return drop('not_for_us', 'Somebody else was asked.');
  }
  const at = payload.pull_request.updated_at ?? context.received.deliveryId;
  const text = `@${ourHandle(context.source)} was ${assigned ? 'assigned' : 'asked for a review'}.`;
  return outcomes(done(payload, thread, context, { name: `${payload.action}/${at}`, kind: 'assignment', text }));
};
