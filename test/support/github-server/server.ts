/**
 * A GitHub in this process: issues, pull requests, comments, files, checks and tokens, over HTTP. Every request is judged by
 * GitHub's own OpenAPI document, and so is every answer of ours; `complaints` must be empty at the end of a test.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AppKey, type Installation, isAllowed, makeAccounts } from './accounts.ts';
import { ANSWERS, type Call, notFound, type Result } from './answers.ts';
import { exampleOf, findOperation, judgeAnswer, judgeRequest, type Operation } from './openapi.ts';
import type { Comment, Issue, Person, Repository, Review } from './state.ts';

export const SELF: Person = { id: 41_898_282, login: 'baton-test[bot]', type: 'Bot' };
export const APP_ID = '1234';
export const INSTALLATION_ID = 77;
export const PERSON_TOKEN = 'ghp_a_person';

export interface Seen {
  readonly operation: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  readonly authorization: string | undefined;
}

/** `lost`: done, and the answer never comes. `never`: neither. Anything else is the answer instead. */
export type Fault =
  | 'lost'
  | 'never'
  | { readonly status: number; readonly message?: string; readonly headers?: { readonly [name: string]: string } };

export interface GithubServer {
  readonly url: string;
  readonly hostAndPort: string;
  readonly privateKey: string;
  readonly seen: readonly Seen[];
  readonly complaints: readonly string[];
  readonly installation: Installation;
  readonly repositories: Repository[];
  /** The next `times` requests of that operation, a name or a part of it, meet the fault. */
  fault(operation: RegExp, fault: Fault, times?: number): void;
  issue(repository: Repository, issue: Partial<Issue> & { readonly number: number }): Issue;
  comment(issue: Issue, user: Person, body: string, of?: 'comments' | 'notes'): Comment;
  /** A review that was submitted now, with notes on lines of files. */
  review(
    issue: Issue,
    user: Person,
    review: { readonly state: string; readonly body?: string },
    notes: readonly { readonly path: string; readonly line: number; readonly body: string }[],
  ): Review;
  close(): Promise<void>;
}

export const newRepository = (id: number, fullName: string, files: Repository['files'] = {}): Repository => ({
  id,
  fullName,
  files,
  issues: new Map(),
  checks: [],
});

// A key takes a second of a slow machine, and no test needs one of its own.
let pair: { readonly publicKey: string; readonly privateKey: string } | undefined;
const keyPair = () => {
  pair ??= generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    // As GitHub hands it out.
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return pair;
};

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString('utf8');
  return text === '' ? undefined : JSON.parse(text);
};

/** @param now the time of comments and of the end of tokens, ms */
export const startGithub = async (now: () => number = Date.now): Promise<GithubServer> => {
  const { publicKey, privateKey } = keyPair();
  const app: AppKey = { appId: APP_ID, publicKey };
  const installation: Installation = {
    id: INSTALLATION_ID,
    suspended: false,
    removed: false,
    permissions: {
      metadata: 'read',
      contents: 'write',
      issues: 'write',
      pull_requests: 'write',
      checks: 'read',
      statuses: 'read',
    },
  };
  const accounts = makeAccounts(app, installation, PERSON_TOKEN, now);
  const repositories: Repository[] = [];
  const seen: Seen[] = [];
  const complaints: string[] = [];
  const faults: { readonly operation: RegExp; readonly fault: Fault; left: number }[] = [];
  let id = 9_000;
  const nextId = (): number => ++id;

  const repositoryOf = ({ parameters }: Operation): Repository | undefined =>
    repositories.find(({ fullName }) => fullName === `${parameters.owner}/${parameters.repo}`);

  const answer = (
    operation: Operation,
    query: URLSearchParams,
    body: unknown,
    authorization: string | undefined,
  ): Result => {
    const caller = accounts.who(authorization);
    if (caller.as === 'nobody') return { status: 401, body: { message: caller.why } };
    if (caller.as === 'app') return answerApp(operation, body);
    const repository = repositoryOf(operation);
    if (caller.as === 'installation' && installation.suspended) {
      return { status: 403, body: { message: 'This installation has been suspended' } };
    }
    const inRepository = operation.parameters.owner !== undefined;
    if (inRepository && repository === undefined) return notFound;
    if (repository !== undefined && caller.grant.repositoryIds?.includes(repository.id) === false) return notFound;
    if (!isAllowed(operation.name, repository?.id, caller.grant)) {
      return { status: 403, body: { message: 'Resource not accessible by integration' } };
    }
    const reach = repositories.filter((each) => caller.grant.repositoryIds?.includes(each.id) !== false);
    const call: Call = {
      operation,
      query,
      body: (body ?? {}) as Call['body'],
      repository,
      // A search looks in what is public, too.
      repositories: operation.name.startsWith('GET /search') ? repositories : reach,
      self: SELF,
      now: now(),
      nextId,
    };
    return ANSWERS[operation.name]?.(call) ?? notFound;
  };

  const answerApp = (operation: Operation, body: unknown): Result => {
    if (operation.name.startsWith('POST /app/installations/')) {
      if (Number(operation.parameters.installation_id) !== installation.id) return notFound;
      return accounts.mint((body ?? {}) as object, repositories);
    }
    if (operation.name === 'GET /app')
      return { status: 200, body: { ...(exampleOf('GET /app') as object), slug: 'baton-test' } };
    if (operation.name.startsWith('GET /app/installations/')) {
      const example = exampleOf(operation.name) as object;
      return { status: 200, body: { ...example, id: installation.id, permissions: installation.permissions } };
    }
    return { status: 401, body: { message: 'Bad credentials' } };
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://github');
    const body = await readBody(request);
    const operation = findOperation(request.method ?? '', url.pathname);
    const { authorization } = request.headers;
    seen.push({ operation: operation?.name ?? '', path: url.pathname, query: url.searchParams, body, authorization });
    if (operation === undefined) {
      complaints.push(`GitHub has no ${request.method} ${url.pathname}`);
      send(response, notFound);
      return;
    }
    complaints.push(...judgeRequest(operation, url.searchParams, body).map((each) => `${operation.name}: ${each}`));
    const found = faults.find((each) => each.left > 0 && each.operation.test(operation.name));
    if (found !== undefined) found.left -= 1;
    const fault = found?.fault;
    if (typeof fault === 'object') {
      send(response, { status: fault.status, body: { message: fault.message ?? 'A fault' } }, fault.headers);
      return;
    }
    if (fault === 'never') {
      response.destroy();
      return;
    }
    const result = answer(operation, url.searchParams, body, authorization);
    if (result.status < 300) complaints.push(...judgeAnswer(operation.name, result.status, result.body));
    if (fault === 'lost') response.destroy();
    else send(response, result);
  };

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      complaints.push(String(error));
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const hostAndPort = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url: `http://${hostAndPort}`,
    hostAndPort,
    privateKey,
    seen,
    complaints,
    installation,
    repositories,
    fault: (operation, fault, times = 1) => void faults.push({ operation, fault, left: times }),
    issue(repository, issue) {
      const made: Issue = {
        title: `Issue ${issue.number}`,
        body: 'What is wrong.',
        user: { id: 1, login: 'octocat' },
        state: 'open',
        locked: false,
        comments: [],
        notes: [],
        reviews: [],
        requested: [],
        ...issue,
      };
      repository.issues.set(issue.number, made);
      return made;
    },
    comment(issue, user, body, of = 'comments') {
      const made = { id: nextId(), user, body, createdAt: now(), updatedAt: now() };
      issue[of].push(made);
      return made;
    },
    review(issue, user, { state, body = '' }, notes) {
      const at = now();
      const sha = issue.pull?.headSha ?? '';
      const made: Review = { id: nextId(), user, state, body, sha, submittedAt: at };
      issue.reviews.push(made);
      for (const note of notes) {
        issue.notes.push({ ...note, id: nextId(), user, review: made.id, createdAt: at, updatedAt: at });
      }
      return made;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const send = (
  response: ServerResponse,
  { status, body }: Result,
  headers: { readonly [name: string]: string } = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(JSON.stringify(body));
};
