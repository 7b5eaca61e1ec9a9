/** What our GitHub does and answers, one operation a member. Errors are GitHub's own sentences. */
import { exampleOf, type Operation } from './openapi.ts';
import {
  type Comment,
  commentJson,
  fileJson,
  type Issue,
  issueJson,
  noteJson,
  type Person,
  pullJson,
  type Repository,
  repositoryJson,
  reviewJson,
  reviewNoteJson,
} from './state.ts';

export interface Call {
  readonly operation: Operation;
  readonly query: URLSearchParams;
  readonly body: { readonly [name: string]: unknown };
  readonly repository: Repository | undefined;
  readonly repositories: readonly Repository[];
  /** Who acts: ourselves. */
  readonly self: Person;
  readonly now: number;
  readonly nextId: () => number;
}

export interface Result {
  readonly status: number;
  readonly body: unknown;
}

const ok = (body: unknown): Result => ({ status: 200, body });
export const notFound: Result = { status: 404, body: { message: 'Not Found' } };
const refused = (status: number, message: string): Result => ({ status, body: { message } });

const pageOf = <T>(items: readonly T[], query: URLSearchParams): T[] => {
  const size = Number(query.get('per_page') ?? 30);
  const page = Number(query.get('page') ?? 1);
  return items.slice((page - 1) * size, page * size);
};

const since = (comments: readonly Comment[], query: URLSearchParams): readonly Comment[] =>
  comments.filter(({ updatedAt }) => updatedAt >= Date.parse(query.get('since') ?? '1970-01-01T00:00:00Z'));

const issueOf = ({ repository, operation }: Call): Issue | undefined => {
  const { issue_number, pull_number } = operation.parameters;
  const issue = repository?.issues.get(Number(issue_number ?? pull_number));
  return pull_number !== undefined && issue?.pull === undefined ? undefined : issue;
};

const withIssue = (call: Call, work: (repository: Repository, issue: Issue) => Result): Result => {
  const issue = issueOf(call);
  return call.repository === undefined || issue === undefined ? notFound : work(call.repository, issue);
};

const edit = (call: Call, of: 'comments' | 'notes', show: typeof commentJson): Result => {
  const id = Number(call.operation.parameters.comment_id);
  for (const issue of call.repository?.issues.values() ?? []) {
    const comment = issue[of].find((each) => each.id === id);
    if (comment === undefined || call.repository === undefined) continue;
    comment.body = String(call.body.body);
    comment.updatedAt = call.now;
    return ok(show(call.repository, issue, comment));
  }
  return notFound;
};

const write = (call: Call, issue: Issue, inReplyTo?: number): Comment | Result => {
  if (issue.locked) return refused(403, 'Unable to create comment because issue is locked.');
  const body = String(call.body.body);
  if (body.length > 65_536) return refused(422, 'Validation Failed: body is too long (maximum is 65536 characters)');
  return {
    id: call.nextId(),
    user: call.self,
    body,
    createdAt: call.now,
    updatedAt: call.now,
    ...(inReplyTo !== undefined && { inReplyTo }),
  };
};
const isResult = (value: Comment | Result): value is Result => 'status' in value;

const contents = ({ repository, operation }: Call): Result => {
  const path = operation.parameters.path ?? '';
  const name = 'GET /repos/{owner}/{repo}/contents/{path}';
  const file = repository?.files[path];
  if (file !== undefined) {
    const bytes = typeof file === 'string' ? Buffer.from(file) : Buffer.from(file);
    const example = exampleOf(name, 200, 'response-if-content-is-a-file') as object;
    const large = bytes.length > 1_000_000;
    const content = large ? '' : (bytes.toString('base64').match(/.{1,60}/g) ?? []).join('\n');
    return ok({ ...example, type: 'file', path, size: bytes.length, content, encoding: large ? 'none' : 'base64' });
  }
  const prefix = path === '' ? '' : `${path}/`;
  const below = Object.keys(repository?.files ?? {}).filter((each) => each.startsWith(prefix));
  if (below.length === 0) return notFound;
  const example = (exampleOf(name, 200, 'response-if-content-is-a-directory') as object[])[0];
  const names = [...new Set(below.map((each) => each.slice(prefix.length).split('/')[0] ?? ''))];
  return ok(
    names.map((each) => {
      const whole = `${prefix}${each}`;
      const type = repository?.files[whole] === undefined ? 'dir' : 'file';
      return { ...example, name: each, path: whole, type, size: repository?.files[whole]?.length ?? 0 };
    }),
  );
};

/** Qualifiers as GitHub reads them: more than one `repo:` looks in all of them. */
const searchCode = ({ query, repositories }: Call): Result => {
  const words = (query.get('q') ?? '').split(/\s+/);
  const names = words.filter((word) => word.startsWith('repo:')).map((word) => word.slice(5));
  const text = words
    .filter((word) => !word.includes(':'))
    .join(' ')
    .replaceAll('"', '')
    .trim();
  const example = (exampleOf('GET /search/code') as { items: object[] }).items[0];
  const items = repositories
    .filter(({ fullName }) => names.includes(fullName))
    .flatMap((repository) =>
      Object.entries(repository.files)
        .filter(([, content]) => typeof content === 'string' && content.includes(text))
        .map(([path]) => ({ ...example, path, name: path.split('/').at(-1), repository: repositoryJson(repository) })),
    );
  return ok({ total_count: items.length, incomplete_results: false, items });
};

const checkRuns = ({ repository, operation }: Call): Result => {
  const example = exampleOf('GET /repos/{owner}/{repo}/commits/{ref}/check-runs') as { check_runs: object[] };
  const runs = repository?.checks.filter(({ sha }) => sha === operation.parameters.ref) ?? [];
  return ok({
    total_count: runs.length,
    check_runs: runs.map(({ sha, name, status, conclusion, completedAt }) => ({
      ...example.check_runs[0],
      ...(completedAt !== undefined && { completed_at: new Date(completedAt).toISOString().replace(/\.\d+Z$/, 'Z') }),
      head_sha: sha,
      name,
      status,
      conclusion,
    })),
  });
};

const combinedStatus = ({ operation }: Call): Result => {
  const example = exampleOf('GET /repos/{owner}/{repo}/commits/{ref}/status') as object;
  return ok({ ...example, sha: operation.parameters.ref, statuses: [], total_count: 0, state: 'pending' });
};

const REPO = '/repos/{owner}/{repo}';

/** GitHub's example lacks what its schema demands: `language`, here and in the repositories that it was forked from. */
const wholeRepositoryJson = ({ id, fullName }: Repository): object => {
  const { source: _, parent: __, ...example } = exampleOf(`GET ${REPO}`) as { source?: unknown; parent?: unknown };
  return { ...example, language: null, id, full_name: fullName };
};

/** GitHub's example lacks what its schema demands: descriptions. */
const listedPullJson = (repositoryId: number | undefined, { number, title, state, pull }: Issue): object => {
  const [example] = exampleOf(`GET ${REPO}/commits/{commit_sha}/pulls`) as {
    readonly head: { readonly repo: object };
    readonly base: { readonly repo: object };
  }[];
  const repo = (of: object | undefined) => ({ ...of, description: null, id: repositoryId });
  return {
    ...example,
    ...{ number, title, state, labels: [], milestone: null, requested_teams: [] },
    head: { ...example?.head, sha: pull?.headSha, repo: repo(example?.head.repo) },
    base: { ...example?.base, repo: repo(example?.base.repo) },
  };
};

export const ANSWERS: { readonly [operation: string]: (call: Call) => Result } = {
  'GET /installation/repositories': ({ repositories, query }) =>
    ok({
      total_count: repositories.length,
      repository_selection: 'selected',
      repositories: pageOf(repositories, query).map(repositoryJson),
    }),
  'GET /user': ({ self }) => ok({ ...(exampleOf('GET /user') as object), id: self.id, login: self.login }),
  'GET /user/repos': ({ repositories, query }) => ok(pageOf(repositories, query).map(repositoryJson)),
  [`GET ${REPO}`]: ({ repository }) => (repository === undefined ? notFound : ok(wholeRepositoryJson(repository))),
  [`GET ${REPO}/issues/{issue_number}`]: (call) =>
    withIssue(call, (repository, issue) => ok(issueJson(repository, issue))),
  [`GET ${REPO}/issues/{issue_number}/comments`]: (call) =>
    withIssue(call, (repository, issue) =>
      ok(pageOf(since(issue.comments, call.query), call.query).map((each) => commentJson(repository, issue, each))),
    ),
  [`POST ${REPO}/issues/{issue_number}/comments`]: (call) =>
    withIssue(call, (repository, issue) => {
      const made = write(call, issue);
      if (isResult(made)) return made;
      issue.comments.push(made);
      return { status: 201, body: commentJson(repository, issue, made) };
    }),
  [`PATCH ${REPO}/issues/comments/{comment_id}`]: (call) => edit(call, 'comments', commentJson),
  [`GET ${REPO}/pulls/{pull_number}`]: (call) =>
    withIssue(call, (repository, issue) => ok(pullJson(repository, issue))),
  [`GET ${REPO}/pulls/{pull_number}/comments`]: (call) =>
    withIssue(call, (repository, issue) =>
      ok(pageOf(since(issue.notes, call.query), call.query).map((each) => noteJson(repository, issue, each))),
    ),
  [`POST ${REPO}/pulls/{pull_number}/comments/{comment_id}/replies`]: (call) =>
    withIssue(call, (repository, issue) => {
      const root = Number(call.operation.parameters.comment_id);
      if (!issue.notes.some(({ id }) => id === root)) return notFound;
      const made = write(call, issue, root);
      if (isResult(made)) return made;
      issue.notes.push(made);
      return { status: 201, body: noteJson(repository, issue, made) };
    }),
  [`PATCH ${REPO}/pulls/comments/{comment_id}`]: (call) => edit(call, 'notes', noteJson),
  [`GET ${REPO}/pulls/{pull_number}/files`]: (call) =>
    withIssue(call, (_, issue) => ok(pageOf(issue.pull?.files ?? [], call.query).map(fileJson))),
  [`GET ${REPO}/pulls/{pull_number}/reviews`]: (call) =>
    withIssue(call, (_, issue) => ok(pageOf(issue.reviews, call.query).map(reviewJson))),
  [`POST ${REPO}/pulls/{pull_number}/requested_reviewers`]: (call) =>
    withIssue(call, (_, issue) => {
      for (const login of (call.body.reviewers as string[] | undefined) ?? []) {
        if (!issue.requested.includes(login)) issue.requested.push(login);
      }
      const example = exampleOf(`POST ${REPO}/pulls/{pull_number}/requested_reviewers`, 201) as object;
      return { status: 201, body: { ...example, requested_teams: [], number: issue.number } };
    }),
  [`GET ${REPO}/contents/{path}`]: contents,
  [`GET ${REPO}/commits/{ref}/check-runs`]: checkRuns,
  [`GET ${REPO}/commits/{ref}/status`]: combinedStatus,
  [`GET ${REPO}/commits/{commit_sha}/pulls`]: ({ repository, operation }) =>
    ok(
      [...(repository?.issues.values() ?? [])]
        .filter(({ pull }) => pull?.headSha === operation.parameters.commit_sha)
        .map((issue) => listedPullJson(repository?.id, issue)),
    ),
  [`GET ${REPO}/pulls/{pull_number}/reviews/{review_id}`]: (call) =>
    withIssue(call, (_, issue) => {
      const found = issue.reviews.find(({ id }) => id === Number(call.operation.parameters.review_id));
      return found === undefined ? notFound : ok(reviewJson(found));
    }),
  [`GET ${REPO}/pulls/{pull_number}/reviews/{review_id}/comments`]: (call) =>
    withIssue(call, (repository, issue) => {
      const of = Number(call.operation.parameters.review_id);
      const notes = issue.notes.filter(({ review }) => review === of);
      return ok(pageOf(notes, call.query).map((note) => reviewNoteJson(repository, issue, note)));
    }),
  'GET /search/code': searchCode,
};
