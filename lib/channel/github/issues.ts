import * as z from 'zod';
import type { Outcome, Resolution } from '../../router/channel.ts';
import { handleOf } from '../../router/gate/mentions.ts';
import type { Source } from '../../router/source/source.ts';
import type { NewThread } from '../../router/thread/thread.ts';
import { basis, type Context, defineEvent, drop, outcomes } from './event.ts';
import { isTextEdit, label, ownWords, textEdits } from './opened.ts';
import { actorOf, authorBeside, isSelf, issue, repository, threadKey, threadOfIssue, titled, user } from './payload.ts';

const moved = z.object({ id: z.int(), number: z.int() });

const schema = z.object({
  action: z.string(),
  issue,
  label: label.optional(),
  assignee: user,
  changes: textEdits
    .extend({
      new_issue: moved.optional(),
      new_repository: repository.optional(),
      old_issue: moved.nullish(),
      old_repository: repository.nullish(),
    })
    .nullish(),
  repository,
  sender: user,
});
type Payload = z.output<typeof schema>;

const NOT_WORDS = ['closed', 'reopened', 'transferred', 'deleted'];

export const issues = defineEvent({
  actions: ['opened', 'edited', 'labeled', 'assigned', ...NOT_WORDS],
  schema,
  drop: ({ action, issue: { user: author }, sender }, source) =>
    NOT_WORDS.includes(action) ? undefined : ownWords(action, author, sender, source),
  read: (payload, context) => {
    const thread = threadOf(payload);
    const { action, sender } = payload;
    const { created_at: createdAt, updated_at: updatedAt, closed_at: closedAt } = payload.issue;
    switch (action) {
      case 'opened':
        return outcomes(subject(thread, 'open', createdAt, context), said(payload, thread, context, createdAt));
      case 'edited':
        return isTextEdit(payload.changes, payload.issue)
          ? outcomes(said(payload, thread, context, updatedAt))
          : drop('unchanged', 'The edit left the text as it was.');
      case 'labeled':
        return labelled(payload, thread, context);
      case 'assigned':
        return isSelf(payload.assignee, context.source)
          ? outcomes({
              make: 'trigger',
              thread,
              trigger: {
                ...common(payload, thread, context, updatedAt),
                objectId: `issue/${payload.issue.id}/assigned/${updatedAt ?? context.received.deliveryId}`,
                kind: 'assignment',
                actor: actorOf(sender),
                text: `@${ourHandle(context.source)} was assigned.`,
              },
              edited: false,
            })
          : drop('not_for_us', 'Somebody else was assigned.');
      case 'deleted': {
        const at = context.received.receivedAt;
        const withdrawn = { make: 'withdraw', threadKey: thread.key, objectId: objectOf(payload), at } as const;
        return outcomes(withdrawn, subject(thread, 'gone', at, context));
      }
      case 'transferred':
        return transferred(payload, thread, context);
      default:
        return outcomes(subject(thread, action === 'closed' ? 'closed' : 'open', closedAt ?? updatedAt, context));
    }
  },
});

const objectOf = ({ issue: { id } }: Payload): string => `issue/${id}`;

/** An issue that came out of another repository goes on in the Thread it had there. */
const threadOf = ({ repository: where, issue: what, changes }: Payload): NewThread => {
  const thread = threadOfIssue(where, what);
  const { old_issue: before, old_repository: from } = changes ?? {};
  if (!before || !from) return thread;
  return { ...thread, aliases: [threadKey(from.id, 'issue', before.number)] };
};

export const subject = (
  thread: NewThread,
  state: Extract<Outcome, { make: 'subject' }>['state'],
  at: number | undefined,
  { received }: Context,
): Outcome => ({ make: 'subject', thread, state, at: at ?? received.receivedAt });

/** What people write to name us. */
export const ourHandle = ({ self }: Source): string => handleOf(self?.login ?? '');

const common = (payload: Payload, thread: NewThread, context: Context, at: number | undefined) => ({
  ...basis(context, 'issues', at),
  replyTo: thread.replyTo,
  repositoryId: String(payload.repository.id),
  ...(payload.issue.html_url !== undefined && { url: payload.issue.html_url }),
});

const said = (payload: Payload, thread: NewThread, context: Context, at: number | undefined): Outcome => {
  const { issue: what, sender, action } = payload;
  return {
    make: 'trigger',
    thread,
    trigger: {
      ...common(payload, thread, context, at),
      objectId: objectOf(payload),
      kind: 'issue',
      actor: actorOf(sender, what.author_association),
      ...authorBeside(what.user, sender),
      text: titled(what.title, what.body),
    },
    edited: action === 'edited',
  };
};

/** Each label is an object of its own; the issue's other labels have had their events. */
const labelled = (payload: Payload, thread: NewThread, context: Context): Resolution => {
  if (payload.label === undefined) return drop('label_deleted', 'The label is not there any more.');
  return outcomes({
    make: 'trigger',
    thread,
    trigger: {
      ...common(payload, thread, context, payload.issue.updated_at),
      objectId: `issue/${payload.issue.id}/label/${payload.label.id}`,
      kind: 'label',
      actor: actorOf(payload.sender),
      text: `Label added: ${payload.label.name}`,
    },
    edited: false,
  });
};

/** Where it went may be out of our sight; else what is said there belongs to the same discussion. */
const transferred = (payload: Payload, thread: NewThread, context: Context): Resolution => {
  const { new_issue: issue, new_repository: to } = payload.changes ?? {};
  const { repositories } = context.source;
  const at = context.received.receivedAt;
  const visible = to !== undefined && (repositories?.some(({ id }) => id === String(to.id)) ?? true);
  if (issue === undefined || to === undefined || !visible) return outcomes(subject(thread, 'gone', at, context));
  return outcomes(subject({ ...thread, aliases: [threadKey(to.id, 'issue', issue.number)] }, 'open', at, context));
};
