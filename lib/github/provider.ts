import type { Octokit } from '@octokit/core';
import { type Provider, ProviderError, type ProviderOf } from '../router/channel.ts';
import type { GuardedFetch } from '../tools/tool.ts';
import { addressOf, type RawComment, remotePost, safePath } from './address.ts';
import { type Clients, makeClients } from './clients.ts';
import { toProviderError } from './failure.ts';
import { keyOf, withMark } from './marker.ts';
import { makeSignIn, type SignIn } from './sign-in.ts';

export interface GithubDeps {
  readonly guarded: GuardedFetch;
  readonly clock: { now(): number };
  /** Unit of the wait between repeats of a reading, ms; a second if left out. */
  readonly retryBaseMs?: number;
}

/** What is of use in an answer to a write; after a redirect it may be something else altogether. */
interface Made {
  readonly id?: number | bigint;
  readonly html_url?: string;
}

const PAGE = 100;
/** Bounds the memory of a process that serves many organisations. */
const MOST_CLIENTS = 200;
/** Comments of one discussion since an attempt began; above it something else is wrong. */
const MOST_PAGES = 20;

/** The providers of all sources of kind `github`. Remembers, per process, clients with their limits and tokens for reading. */
export const makeGithubProviders = (deps: GithubDeps): ProviderOf => {
  const clients = new Map<string, Clients>();
  const signIn = makeSignIn(deps.clock);
  return (source, secrets, needs) => {
    const limitsOf = `${source.id} ${source.apiBaseUrl ?? ''}`;
    const known = clients.get(limitsOf);
    const made =
      known ??
      makeClients({
        guarded: deps.guarded,
        baseUrl: source.apiBaseUrl,
        limitsOf,
        retryBaseMs: deps.retryBaseMs ?? 1000,
      });
    if (known === undefined) {
      if (clients.size >= MOST_CLIENTS) clients.clear();
      clients.set(limitsOf, made);
    }
    return makeProvider(deps, made, signIn(made, source, secrets, needs), needs);
  };
};

const makeProvider = (
  { clock }: GithubDeps,
  { reading, writing }: Clients,
  account: SignIn,
  needs: Parameters<ProviderOf>[2],
): Provider => {
  const read = async <T>(work: (octokit: Octokit, headers: { readonly authorization: string }) => Promise<T>) => {
    const headers = await account.headers('read');
    try {
      return await work(reading, headers);
    } catch (error) {
      throw toProviderError(error, 'read', clock.now());
    }
  };
  const write = async <T>(work: (octokit: Octokit, headers: { readonly authorization: string }) => Promise<T>) => {
    const headers = await account.headers('write');
    if (needs.until !== undefined && clock.now() >= needs.until) {
      // Somebody else may take it over soon: a write that begins now could be the second one.
      throw new ProviderError('down', 'There was no time left to begin a request.');
    }
    try {
      return await work(writing, headers);
    } catch (error) {
      throw toProviderError(error, 'write', clock.now());
    }
  };
  const placeOf = async (to: Parameters<Provider['post']>[0]) => {
    const { repositoryId, number, root } = addressOf(to);
    return { ...(await account.repository(repositoryId)), number, root };
  };

  return {
    async post(to, body, key) {
      const { owner, repo, number, root } = await placeOf(to);
      const marked = withMark(body, key);
      const data = await write(async (octokit, headers): Promise<Made> => {
        const common = { owner, repo, body: marked, headers };
        if (root === undefined) {
          const route = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';
          return (await octokit.request(route, { ...common, issue_number: number })).data;
        }
        const route = 'POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies';
        return (await octokit.request(route, { ...common, pull_number: number, comment_id: root })).data;
      });
      // A redirect may have made a reading of it, whose answer is no comment.
      if (data.id === undefined) throw new ProviderError('unknown', 'GitHub answered without a comment.');
      return { id: String(data.id), ...(data.html_url !== undefined && { url: data.html_url }) };
    },

    async edit(to, id, body, key) {
      const { owner, repo, root } = await placeOf(to);
      const parameters = { owner, repo, comment_id: Number(id), body: withMark(body, key) };
      await write<unknown>((octokit, headers) =>
        root === undefined
          ? octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...parameters, headers })
          : octokit.request('PATCH /repos/{owner}/{repo}/pulls/comments/{comment_id}', { ...parameters, headers }),
      );
    },

    async list(to, sinceMs) {
      const { owner, repo, number, root } = await placeOf(to);
      const since = new Date(Math.max(0, sinceMs)).toISOString();
      const common = { owner, repo, since, per_page: PAGE };
      const found: RawComment[] = [];
      for (let page = 1; ; page++) {
        if (page > MOST_PAGES) throw new ProviderError('down', 'There are too many comments to look through.');
        const comments = await read(async (octokit, headers): Promise<readonly RawComment[]> => {
          if (root === undefined) {
            const route = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
            return (await octokit.request(route, { ...common, issue_number: number, page, headers })).data;
          }
          const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments';
          return (await octokit.request(route, { ...common, pull_number: number, page, headers })).data;
        });
        found.push(...comments);
        if (comments.length < PAGE) break;
      }
      return found.map((comment) => remotePost(comment, keyOf(comment.body ?? '')));
    },

    async requestReview(to, reviewers) {
      const { owner, repo, number } = await placeOf(to);
      await write((octokit, headers) =>
        octokit.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers', {
          owner,
          repo,
          pull_number: number,
          reviewers: [...reviewers],
          headers,
        }),
      );
    },

    async get(repositoryId, path, query = {}) {
      const below = safePath(path);
      const { owner, repo } = await account.repository(repositoryId);
      const isSearch = path === 'search/code' || path === 'search/issues';
      // Whoever searches names no repository: this one is added, and no other can be.
      const asked = isSearch ? { ...query, q: `${query.q ?? ''} repo:${owner}/${repo}` } : query;
      const text = new URLSearchParams(asked).toString();
      const url = `${isSearch ? below : `/repos/${owner}/${repo}${below}`}${text === '' ? '' : `?${text}`}`;
      const { data } = await read((octokit, headers) => octokit.request({ method: 'GET', url, headers }));
      return data as unknown;
    },

    check: () => account.check(),
  };
};
