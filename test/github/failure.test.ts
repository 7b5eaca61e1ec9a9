import { describe, expect, it } from 'vitest';
import { makeGithubProviders } from '../../lib/github/provider.ts';
import { makeGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import { refusal } from '../support/refusal.ts';
import { githubSource, makeWorld } from './world.ts';

const ISSUE = { thread: '501/issues/7' };
const POST = /^POST .*comments/;

describe('an answer to a write that', () => {
  it.each([
    [401, 'Bad credentials', {}, { kind: 'unauthorized' }],
    [403, 'Unable to create comment because issue is locked.', {}, { kind: 'refused', code: undefined }],
    [403, 'This installation has been suspended', {}, { kind: 'refused', code: 'suspended' }],
    [404, 'Not Found', {}, { kind: 'gone', code: undefined }],
    [410, 'This issue was deleted', {}, { kind: 'gone' }],
    [422, 'Validation Failed', {}, { kind: 'refused' }],
    [429, 'Too many', { 'retry-after': '17' }, { kind: 'busy', retryAfterMs: 17_000 }],
    [403, 'You have exceeded a secondary rate limit', {}, { kind: 'busy', retryAfterMs: 60_000 }],
    [500, 'Oops', {}, { kind: 'unknown' }],
    [504, 'Late', {}, { kind: 'unknown' }],
  ])('is %i "%s" %j', async (status, message, headers, expected) => {
    const { comment, github } = await makeWorld();
    github.fault(POST, { status, message, headers });
    expect(await refusal(comment().post(ISSUE, 'x', 'eff_1'))).toMatchObject(expected);
  });

  it('names the end of the hourly limit', async () => {
    const { comment, github, clock } = await makeWorld();
    const reset = Math.floor(clock.now() / 1000) + 600;
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) };
    github.fault(POST, { status: 403, message: 'API rate limit exceeded', headers });
    const error = (await refusal(comment().post(ISSUE, 'x', 'eff_1'))) as { readonly retryAfterMs: number };
    expect(error).toMatchObject({ kind: 'busy' });
    expect(Math.abs(error.retryAfterMs - 600_000)).toBeLessThan(3_000);
  });

  it('never comes may have been done, whether it was or not', async () => {
    const { comment, github, issue } = await makeWorld();
    github.fault(POST, 'lost');
    expect(await refusal(comment().post(ISSUE, 'x', 'eff_1'))).toMatchObject({ kind: 'unknown' });
    expect(issue.comments).toHaveLength(1);
    github.fault(POST, 'never');
    expect(await refusal(comment().post(ISSUE, 'x', 'eff_1'))).toMatchObject({ kind: 'unknown' });
    expect(issue.comments).toHaveLength(1);
  });
});

describe('J74 an installation that', () => {
  it('was suspended is the trouble of its source', async () => {
    const { comment, github } = await makeWorld();
    github.installation.suspended = true;
    expect(await refusal(comment().post(ISSUE, 'x', 'eff_1'))).toMatchObject({ code: 'suspended' });
  });

  it('was removed is the trouble of its source, and no comment that is gone', async () => {
    const { comment, github } = await makeWorld();
    github.installation.removed = true;
    expect(await refusal(comment().post(ISSUE, 'x', 'eff_1'))).toMatchObject({ code: 'not_installed' });
  });
});

describe('a write', () => {
  it('that never left is not in doubt', async () => {
    const { github } = await makeWorld();
    const providers = makeGithubProviders({
      guarded: makeGuardedFetch({ allow: ['127.0.0.1:1'] }),
      clock: Date,
      retryBaseMs: 1,
    });
    const source = githubSource(github, {
      apiBaseUrl: 'http://127.0.0.1:1',
      signsInBy: 'token',
      repositories: [{ id: '501', fullName: 'acme/shop' }],
    });
    const provider = providers(source, { signing: [], token: 'x' }, { verb: 'comment' });
    expect(await refusal(provider.post(ISSUE, 'x', 'eff_1'))).toMatchObject({ kind: 'down' });
  });

  it('to an address that may not be reached is refused', async () => {
    const { github } = await makeWorld();
    const providers = makeGithubProviders({ guarded: makeGuardedFetch({ allow: [] }), clock: Date, retryBaseMs: 1 });
    const source = githubSource(github, { signsInBy: 'token', repositories: [{ id: '501', fullName: 'acme/shop' }] });
    const provider = providers(source, { signing: [], token: 'x' }, { verb: 'comment' });
    expect(await refusal(provider.post(ISSUE, 'x', 'eff_1'))).toMatchObject({ kind: 'refused' });
  });

  it('is not begun after the time of its lease', async () => {
    const { provider, clock, issue } = await makeWorld();
    const late = provider({ verb: 'comment', repositoryId: '501', until: clock.now() });
    expect(await refusal(late.post(ISSUE, 'x', 'eff_1'))).toMatchObject({ kind: 'down' });
    expect(issue.comments).toEqual([]);
  });

  it.each(['7', '501/issues', '501/issues/x', '../x/issues/7', '501/issues/7/comments'])(
    'to %s goes nowhere',
    async (thread) => {
      const { comment, github } = await makeWorld();
      expect(await refusal(comment().post({ thread }, 'x', 'eff_1'))).toMatchObject({ kind: 'refused' });
      expect(github.seen).toEqual([]);
    },
  );

  it.each(['acme', 'acme/shop/issues', '../..', 'acme/..', 'a b/c'])(
    'to a repository named %s goes nowhere',
    async (fullName) => {
      const { provider, github } = await makeWorld();
      const named = provider({ verb: 'comment', repositoryId: '501' }, { repositories: [{ id: '501', fullName }] });
      expect(await refusal(named.post(ISSUE, 'x', 'eff_1'))).toMatchObject({ kind: 'refused' });
      expect(github.seen).toEqual([]);
    },
  );
});
