/** Events as GitHub delivers them: its headers, its signature over the bytes, payloads with the members that it sends. */
import { createHmac, randomUUID } from 'node:crypto';
import type {
  CheckRunCompletedEvent,
  CheckSuiteCompletedEvent,
  IssueCommentCreatedEvent,
  IssueCommentEditedEvent,
  IssuesClosedEvent,
  IssuesOpenedEvent,
  PullRequestReviewCommentCreatedEvent,
  PullRequestReviewSubmittedEvent,
} from '@octokit/webhooks-types';
import type { Comment, Issue, Person, Repository } from '../../support/github-server/state.ts';
import { webOf } from '../../support/github-server/state.ts';

export interface Hook {
  readonly event: string;
  readonly payload: object;
  /** GitHub's id of the delivery; a redelivery has the same. */
  readonly id: string;
}

/** Some of the members, as GitHub types them. */
type Part<T> = T extends object ? { readonly [member in keyof T]?: Part<T[member]> } : T;

/** What is told in these tests. */
type Told =
  | IssuesOpenedEvent
  | IssuesClosedEvent
  | IssueCommentCreatedEvent
  | IssueCommentEditedEvent
  | CheckSuiteCompletedEvent
  | CheckRunCompletedEvent
  | PullRequestReviewSubmittedEvent
  | PullRequestReviewCommentCreatedEvent;

export const iso = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
export const user = ({ id, login, type = 'User' }: Person) => ({ id, login, type });

export const repositoryOf = ({ id, fullName }: Repository) => ({ id, full_name: fullName, private: true });

export const issueOf = (repository: Repository, issue: Issue, at: number) => ({
  id: 600_000_000 + issue.number,
  number: issue.number,
  title: issue.title,
  body: issue.body,
  user: user(issue.user),
  state: 'open' as const,
  html_url: webOf(repository, issue),
  author_association: 'MEMBER' as const,
  ...(issue.pull !== undefined && { pull_request: { url: webOf(repository, issue) } }),
  created_at: iso(at),
  updated_at: iso(at),
  closed_at: null,
});

export const hook = (event: string, payload: Part<Told>): Hook => ({
  event,
  payload,
  id: randomUUID(),
});

export const issueOpened = (repository: Repository, issue: Issue, installationId: number): Hook =>
  hook('issues', {
    action: 'opened',
    issue: issueOf(repository, issue, Date.now()),
    repository: repositoryOf(repository),
    installation: { id: installationId },
    sender: user(issue.user),
  });

export const commentCreated = (
  repository: Repository,
  issue: Issue,
  comment: Comment,
  installationId: number,
  association: IssueCommentCreatedEvent['comment']['author_association'] = 'MEMBER',
): Hook =>
  hook('issue_comment', {
    action: 'created',
    issue: issueOf(repository, issue, comment.createdAt),
    comment: {
      id: comment.id,
      body: comment.body,
      user: user(comment.user),
      author_association: association,
      html_url: `${webOf(repository, issue)}#issuecomment-${comment.id}`,
      performed_via_github_app: null,
      created_at: iso(comment.createdAt),
      updated_at: iso(comment.updatedAt),
    },
    repository: repositoryOf(repository),
    installation: { id: installationId },
    sender: user(comment.user),
  });

export const issueClosed = (repository: Repository, issue: Issue, by: Person, installationId: number): Hook => {
  const at = iso(Date.now());
  return hook('issues', {
    action: 'closed',
    issue: { ...issueOf(repository, issue, Date.now()), state: 'closed' as const, updated_at: at, closed_at: at },
    repository: repositoryOf(repository),
    installation: { id: installationId },
    sender: user(by),
  });
};

/** The sender is who pushed, as at GitHub. */
export const suiteCompleted = (repository: Repository, sha: string, pusher: Person, installationId: number): Hook =>
  hook('check_suite', {
    action: 'completed',
    check_suite: { head_sha: sha, conclusion: 'failure', app: { id: 15_368 } },
    repository: repositoryOf(repository),
    installation: { id: installationId },
    sender: user(pusher),
  });

/** @returns the status and what ingest says of it */
export const deliver = async (
  url: string,
  secret: string,
  { event, payload, id }: Hook,
): Promise<{ readonly status: number; readonly verdict?: string; readonly deliveryId?: string }> => {
  const body = JSON.stringify(payload);
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/044aadd',
      'x-github-event': event,
      'x-github-delivery': id,
      'x-github-hook-id': '1',
      'x-github-hook-installation-target-type': 'integration',
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
    body,
  });
  const text = await response.text();
  return { status: response.status, ...(response.ok && (JSON.parse(text) as object)) };
};
