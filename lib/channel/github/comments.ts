/** Comments on issues and, because pull requests are issues too, on pull requests. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { basis, defineEvent, drop, outcomes, ownComment } from './event.ts';
import { actorOf, authorBeside, issue, repository, threadOfIssue, time, user, viaApp } from './payload.ts';

const schema = z.object({
  action: z.string(),
  issue,
  comment: z.object({
    id: z.int(),
    body: z.string().nullish(),
    user,
    author_association: z.string().optional(),
    html_url: z.string().optional(),
    performed_via_github_app: viaApp,
    created_at: time,
    updated_at: time,
  }),
  changes: z.object({ body: z.object({ from: z.string() }).optional() }).optional(),
  repository,
  sender: user,
});

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

export const issueComment = defineEvent({
  actions: ['created', 'edited', 'deleted'],
  schema,
  drop: ownComment,
  // Hooks of the repository, the organisation and the app tell of it each with an id of their own.
  same: ({ action, comment }) =>
    `issue_comment/${action}/${comment.id}/${comment.updated_at ?? ''}/${digest(comment.body ?? '')}`,
  read: (payload, context) => {
    const { action, comment, sender, changes } = payload;
    const thread = threadOfIssue(payload.repository, payload.issue);
    const objectId = `issue_comment/${comment.id}`;
    const edited = action === 'edited';
    const at = edited ? (comment.updated_at ?? comment.created_at) : comment.created_at;
    if (action === 'deleted') {
      return outcomes({ make: 'withdraw', threadKey: thread.key, objectId, at: context.received.receivedAt });
    }
    if (edited && (changes?.body === undefined || changes.body.from === comment.body)) {
      return drop('unchanged', 'The edit left the text as it was.');
    }
    return outcomes({
      make: 'trigger',
      thread,
      trigger: {
        ...basis(context, 'issue_comment', at),
        objectId,
        kind: 'comment',
        actor: actorOf(sender, comment.author_association),
        ...authorBeside(comment.user, sender),
        text: comment.body ?? '',
        replyTo: thread.replyTo,
        repositoryId: String(payload.repository.id),
        ...(comment.html_url !== undefined && { url: comment.html_url }),
      },
      edited,
    });
  },
});
