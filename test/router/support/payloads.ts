/** Payloads of GitHub's, as short as they may be, for what its own examples do not show. */
import { ALICE, SELF } from './inbox.ts';

export const REPOSITORY = { id: 900000001, full_name: 'example-org/widget' };

export const person = (id: string | number, login = `user-${id}`, type = 'User') => ({ id: Number(id), login, type });
export const alice = person(ALICE, 'alice-example');
export const bob = person(700000002, 'bob-example');
export const ourselves = person(SELF.id, 'team-agent[bot]', 'Bot');

const at = (seconds: number): string => new Date(Date.parse('2026-11-30T02:00:00Z') + seconds * 1000).toISOString();

export const issueOf = (more: object = {}) => ({
  id: 610000001,
  number: 42,
  title: 'Fonts',
  body: 'They are too small.',
  user: alice,
  html_url: 'https://github.com/example-org/widget/issues/42',
  author_association: 'MEMBER',
  created_at: at(0),
  updated_at: at(0),
  closed_at: null,
  ...more,
});

export const pullOf = (more: object = {}) => ({
  id: 660000001,
  number: 42,
  title: 'Fonts, larger',
  body: 'As asked.',
  user: bob,
  html_url: 'https://github.com/example-org/widget/pull/42',
  state: 'open',
  merged: false,
  head: { sha: 'c'.repeat(40) },
  base: { repo: { id: REPOSITORY.id } },
  created_at: at(0),
  updated_at: at(0),
  ...more,
});

interface Comment {
  readonly id?: number;
  readonly body?: string;
  readonly user?: object | null;
  readonly sender?: object | null;
  readonly issue?: object;
  readonly seconds?: number;
  readonly more?: object;
}

const comment = (action: string, given: Comment, changes?: object) => ({
  action,
  issue: issueOf(given.issue),
  comment: {
    id: given.id ?? 620000001,
    body: given.body ?? '@team-agent please look',
    user: given.user === undefined ? alice : given.user,
    author_association: 'MEMBER',
    html_url: 'https://github.com/example-org/widget/issues/42#issuecomment-1',
    performed_via_github_app: null,
    created_at: at(0),
    updated_at: at(given.seconds ?? 0),
    ...given.more,
  },
  ...(changes !== undefined && { changes }),
  repository: REPOSITORY,
  sender: given.sender === undefined ? alice : given.sender,
});

export const commentCreated = (given: Comment = {}) => comment('created', given);
export const commentEdited = (given: Comment, from = 'before') =>
  comment('edited', { seconds: 60, ...given }, { body: { from } });
export const commentDeleted = (given: Comment = {}) => comment('deleted', given);

export const issueEvent = (action: string, more: object = {}, issue: object = {}) => ({
  action,
  issue: issueOf(issue),
  repository: REPOSITORY,
  sender: alice,
  ...more,
});

export const pullEvent = (action: string, more: object = {}, pull: object = {}) => ({
  action,
  pull_request: pullOf(pull),
  repository: REPOSITORY,
  sender: alice,
  ...more,
});

export const checkRunEvent = (action: string, sha: string, run: object = {}, sender: object = alice) => ({
  action,
  check_run: { head_sha: sha, conclusion: 'failure', app: { id: 15368 }, ...run },
  repository: REPOSITORY,
  sender,
});

export const seconds = at;
