/** Further events as GitHub delivers them: reviews and their notes, edits and deletions of comments, single checks. */
import { INSTALLATION_ID } from '../../support/github-server/server.ts';
import {
  type Comment,
  type Issue,
  type Person,
  type Repository,
  type Review,
  webOf,
} from '../../support/github-server/state.ts';
import { type Hook, hook, iso, issueOf, repositoryOf, user } from './github-hooks.ts';

const around = (repository: Repository, by: Person) => ({
  repository: repositoryOf(repository),
  installation: { id: INSTALLATION_ID },
  sender: user(by),
});

const pullOf = (repository: Repository, issue: Issue, at: number) => ({
  id: 700_000_000 + issue.number,
  number: issue.number,
  title: issue.title,
  body: issue.body,
  user: user(issue.user),
  html_url: webOf(repository, issue),
  head: { sha: issue.pull?.headSha ?? '' },
  updated_at: iso(at),
});

export const reviewTold = (
  repository: Repository,
  issue: Issue,
  review: Review,
  action: 'submitted' | 'edited' | 'dismissed' = 'submitted',
): Hook =>
  hook('pull_request_review', {
    action: action as 'submitted',
    review: {
      id: review.id,
      user: user(review.user),
      body: review.body,
      // Events write it small, the API large.
      state: review.state.toLowerCase() as 'commented',
      commit_id: review.sha,
      html_url: `${webOf(repository, issue)}#pullrequestreview-${review.id}`,
      author_association: 'MEMBER',
      submitted_at: iso(review.submittedAt ?? 0),
    },
    pull_request: pullOf(repository, issue, Date.now()),
    ...around(repository, review.user),
  });

export const noteTold = (
  repository: Repository,
  issue: Issue,
  note: Comment,
  action: 'created' | 'edited' | 'deleted' = 'created',
): Hook =>
  hook('pull_request_review_comment', {
    action: action as 'created',
    comment: {
      id: note.id,
      body: note.body,
      user: user(note.user),
      path: note.path ?? '',
      line: note.line ?? 1,
      pull_request_review_id: note.review ?? 0,
      ...(note.inReplyTo !== undefined && { in_reply_to_id: note.inReplyTo }),
      html_url: `${webOf(repository, issue)}#discussion_r${note.id}`,
      author_association: 'MEMBER',
      created_at: iso(note.createdAt),
      updated_at: iso(note.updatedAt),
    },
    pull_request: pullOf(repository, issue, Date.now()),
    ...around(repository, note.user),
  });

/** @param before the text that the comment had */
export const commentChanged = (
  repository: Repository,
  issue: Issue,
  comment: Comment,
  before: string | 'deleted',
): Hook =>
  hook('issue_comment', {
    action: (before === 'deleted' ? 'deleted' : 'edited') as 'edited',
    ...(before !== 'deleted' && { changes: { body: { from: before } } }),
    issue: issueOf(repository, issue, comment.createdAt),
    comment: {
      id: comment.id,
      body: comment.body,
      user: user(comment.user),
      author_association: 'MEMBER',
      html_url: `${webOf(repository, issue)}#issuecomment-${comment.id}`,
      performed_via_github_app: null,
      created_at: iso(comment.createdAt),
      updated_at: iso(comment.updatedAt),
    },
    ...around(repository, comment.user),
  });

export const checkCompleted = (
  repository: Repository,
  { sha, name, conclusion }: Repository['checks'][number],
  by: Person,
): Hook =>
  hook('check_run', {
    action: 'completed',
    check_run: { head_sha: sha, name, conclusion: conclusion as 'failure', app: { id: 15_368 } },
    ...around(repository, by),
  });
