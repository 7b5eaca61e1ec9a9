import { afterEach, expect } from 'vitest';
import { makeGithubProviders } from '../../lib/github/provider.ts';
import { makeGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import type { Provider, ProviderOf } from '../../lib/router/channel.ts';
import type { Source, SourceSecrets } from '../../lib/router/source/source.ts';
import {
  APP_ID,
  type GithubServer,
  INSTALLATION_ID,
  newRepository,
  PERSON_TOKEN,
  SELF,
  startGithub,
} from '../support/github-server/server.ts';

export const githubSource = (github: Pick<GithubServer, 'url'>, more: Partial<Source> = {}): Source => ({
  id: 'src_00000000000000000000000000',
  orgId: 'org_00000000000000000000000000',
  kind: 'github',
  name: 'GitHub',
  state: 'active',
  self: { id: String(SELF.id), login: SELF.login, appId: APP_ID },
  installationId: String(INSTALLATION_ID),
  appId: APP_ID,
  signsInBy: 'app',
  apiBaseUrl: github.url,
  secretRef: 'ref',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  ...more,
});

type Needs = Parameters<ProviderOf>[2];

let open: GithubServer | undefined;
afterEach(async () => {
  const server = open;
  open = undefined;
  await server?.close();
  // What GitHub's own description says against what was sent or answered.
  expect(server?.complaints ?? []).toEqual([]);
});

/** A GitHub with one repository, an issue 7, a pull request 8, and providers that reach it. */
export const makeWorld = async () => {
  let now = Date.now();
  const clock = { now: () => now };
  const github = await startGithub(clock.now);
  open = github;
  const repository = newRepository(501, 'acme/shop', { 'README.md': '# Shop', 'src/main.ts': 'export {};' });
  const other = newRepository(502, 'acme/secrets', { 'key.txt': 'the secret' });
  github.repositories.push(repository, other);
  const issue = github.issue(repository, { number: 7 });
  const pull = github.issue(repository, {
    number: 8,
    pull: { headSha: 'a'.repeat(40), baseSha: 'b'.repeat(40), files: [] },
  });
  const providers = makeGithubProviders({
    guarded: makeGuardedFetch({ allow: [github.hostAndPort] }),
    clock,
    retryBaseMs: 5,
  });
  const secrets: SourceSecrets = { signing: [], privateKey: github.privateKey };
  const provider = (needs: Needs, source: Partial<Source> = {}): Provider =>
    providers(githubSource(github, source), secrets, needs);
  const person = (needs: Needs): Provider =>
    providers(
      githubSource(github, { signsInBy: 'token', id: 'src_person' }),
      { signing: [], token: PERSON_TOKEN },
      needs,
    );
  const names = (): string[] => github.seen.map(({ operation }) => operation);
  return {
    github,
    repository,
    other,
    issue,
    pull,
    provider,
    person,
    names,
    clock,
    advance: (ms: number) => {
      now += ms;
    },
    comment: () => provider({ verb: 'comment', repositoryId: '501' }),
    read: () => provider({ verb: 'read', repositoryId: '501' }),
  };
};
