/** What our GitHub knows. Ids are numbers, as there. */
import { exampleOf } from './openapi.ts';

export interface Person {
  readonly id: number;
  readonly login: string;
  readonly type?: 'User' | 'Bot';
}

export interface Comment {
  readonly id: number;
  readonly user: Person;
  body: string;
  readonly createdAt: number;
  updatedAt: number;
  /** Of a note on a line: the note that begins its thread. */
  readonly inReplyTo?: number;
  /** Of a note: the review that it came with, and where it stands. */
  readonly review?: number;
  readonly path?: string;
  readonly line?: number;
}

export interface Review {
  readonly id: number;
  readonly user: Person;
  state: string;
  body: string;
  readonly sha: string;
  /** Milliseconds since the epoch; without it as in GitHub's example. */
  readonly submittedAt?: number;
}

export interface Issue {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly user: Person;
  state: 'open' | 'closed';
  locked: boolean;
  /** It is a pull request. */
  readonly pull?:
    | { readonly headSha: string; readonly baseSha: string; readonly files: readonly ChangedFile[] }
    | undefined;
  readonly comments: Comment[];
  readonly notes: Comment[];
  readonly reviews: Review[];
  readonly requested: string[];
}

export interface ChangedFile {
  readonly filename: string;
  readonly status: string;
  readonly additions: number;
  readonly deletions: number;
  /** Missing where GitHub leaves it out: binary, or too long. */
  readonly patch?: string;
}

export interface Repository {
  readonly id: number;
  fullName: string;
  readonly files: { [path: string]: string | Uint8Array };
  readonly issues: Map<number, Issue>;
  readonly checks: {
    readonly sha: string;
    readonly name: string;
    readonly status: string;
    readonly conclusion: string | null;
    /** Milliseconds since the epoch; without it as in GitHub's example. */
    readonly completedAt?: number;
  }[];
}

const user = (person: Person) => ({
  ...(exampleOf('GET /repos/{owner}/{repo}/issues/{issue_number}/comments') as { user: object }[])[0]?.user,
  id: person.id,
  login: person.login,
  type: person.type ?? 'User',
});

export const webOf = (repository: Repository, issue: Issue): string =>
  `https://github.example/${repository.fullName}/${issue.pull === undefined ? 'issues' : 'pull'}/${issue.number}`;

const times = ({ createdAt, updatedAt }: Comment) => ({
  created_at: new Date(createdAt).toISOString(),
  updated_at: new Date(updatedAt).toISOString(),
});

export const commentJson = (repository: Repository, issue: Issue, comment: Comment): object => ({
  ...(exampleOf('GET /repos/{owner}/{repo}/issues/{issue_number}/comments') as object[])[0],
  id: comment.id,
  body: comment.body,
  user: user(comment.user),
  html_url: `${webOf(repository, issue)}#issuecomment-${comment.id}`,
  ...times(comment),
});

export const noteJson = (repository: Repository, issue: Issue, note: Comment): object => ({
  ...(exampleOf('POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies', 201) as object),
  id: note.id,
  body: note.body,
  user: user(note.user),
  in_reply_to_id: note.inReplyTo ?? note.id,
  ...(note.review !== undefined && { pull_request_review_id: note.review }),
  ...(note.path !== undefined && { path: note.path, line: note.line }),
  html_url: `${webOf(repository, issue)}#discussion_r${note.id}`,
  ...times(note),
});

/** A note among those of its review: another form, without the thread that it begins itself. */
export const reviewNoteJson = (repository: Repository, issue: Issue, note: Comment): object => {
  const example = exampleOf('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments') as object[];
  return {
    ...example[0],
    id: note.id,
    body: note.body,
    user: user(note.user),
    pull_request_review_id: note.review ?? null,
    path: note.path ?? 'README.md',
    line: note.line,
    in_reply_to_id: note.inReplyTo,
    html_url: `${webOf(repository, issue)}#discussion_r${note.id}`,
    ...times(note),
  };
};

/** GitHub's example of an issue is a pull request. */
const issueExample = (): object => {
  const { pull_request: _, ...example } = exampleOf('GET /repos/{owner}/{repo}/issues/{issue_number}') as {
    pull_request?: unknown;
  };
  return example;
};

export const issueJson = (repository: Repository, issue: Issue): object => ({
  ...issueExample(),
  state_reason: null,
  number: issue.number,
  title: issue.title,
  body: issue.body,
  state: issue.state,
  locked: issue.locked,
  user: user(issue.user),
  html_url: webOf(repository, issue),
  comments: issue.comments.length,
  ...(issue.pull !== undefined && { pull_request: { url: '', html_url: '', diff_url: '', patch_url: '' } }),
});

export const pullJson = (repository: Repository, issue: Issue): object => {
  const example = exampleOf('GET /repos/{owner}/{repo}/pulls/{pull_number}') as { head: object; base: object };
  const { pull } = issue;
  return {
    ...example,
    number: issue.number,
    title: issue.title,
    body: issue.body,
    state: issue.state,
    user: user(issue.user),
    html_url: webOf(repository, issue),
    head: { ...example.head, sha: pull?.headSha },
    base: { ...example.base, sha: pull?.baseSha },
    requested_teams: [],
    changed_files: pull?.files.length,
  };
};

export const fileJson = (file: ChangedFile): object => ({
  ...(exampleOf('GET /repos/{owner}/{repo}/pulls/{pull_number}/files') as object[])[0],
  ...file,
  patch: file.patch,
  changes: file.additions + file.deletions,
});

export const reviewJson = (review: Review): object => ({
  ...(exampleOf('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews') as object[])[0],
  id: review.id,
  user: user(review.user),
  state: review.state,
  body: review.body,
  commit_id: review.sha,
  ...(review.submittedAt !== undefined && { submitted_at: new Date(review.submittedAt).toISOString() }),
});

export const repositoryJson = (repository: Repository): object => {
  const [owner = '', name = ''] = repository.fullName.split('/');
  const example = exampleOf('GET /installation/repositories') as { repositories: { owner: object }[] };
  const first = example.repositories[0];
  return {
    ...first,
    id: repository.id,
    name,
    full_name: repository.fullName,
    owner: { ...first?.owner, login: owner },
  };
};
