import { describe, expect, it } from 'vitest';
import { PERMISSIONS } from '../../lib/github/permissions.ts';
import { PERSON_TOKEN, SELF } from '../support/github-server/server.ts';
import { refusal } from '../support/refusal.ts';
import { makeWorld } from './world.ts';

const ISSUE = { thread: '501/issues/7' };
const MINT = 'POST /app/installations/{installation_id}/access_tokens';
const COMMENTS = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';

describe('a comment', () => {
  it('is posted with its key, found by it, and edited in place', async () => {
    const { comment, read, issue } = await makeWorld();
    const made = await comment().post(ISSUE, 'Hello 😀', 'eff_1');
    expect(made.url).toBe(`https://github.example/acme/shop/issues/7#issuecomment-${made.id}`);
    const [found] = await read().list(ISSUE, 0);
    expect(found).toMatchObject({ id: made.id, key: 'eff_1', authorId: String(SELF.id) });
    await comment().edit(ISSUE, made.id, 'Hello again', 'eff_1');
    expect(issue.comments).toHaveLength(1);
    expect(issue.comments[0]?.body).toBe('Hello again\n\n<!-- baton:eff_1 -->');
  });

  it('on a line of a pull request answers in its own thread of notes', async () => {
    const { comment, read, github, pull } = await makeWorld();
    const root = github.comment(pull, { id: 1, login: 'octocat' }, 'Why?', 'notes');
    const to = { thread: '501/issues/8', root: String(root.id) };
    const made = await comment().post(to, 'Because.', 'eff_2');
    expect(pull.comments).toEqual([]);
    expect(pull.notes.at(-1)).toMatchObject({ inReplyTo: root.id, user: SELF });
    await comment().edit(to, made.id, 'Therefore.', 'eff_2');
    expect((await read().list(to, 0)).map(({ key }) => key)).toEqual([undefined, 'eff_2']);
  });

  it('that quotes the mark of another one does not pass for it', async () => {
    const { comment, read } = await makeWorld();
    await comment().post(ISSUE, 'You wrote: <!-- baton:eff_9 -->', 'eff_1');
    expect((await read().list(ISSUE, 0)).map(({ key }) => key)).toEqual(['eff_1']);
  });

  it('that is too long is cut to what GitHub takes', async () => {
    const { comment, issue } = await makeWorld();
    await comment().post(ISSUE, 'x'.repeat(70_000), 'eff_1');
    expect(issue.comments[0]?.body).toHaveLength(65_536);
  });

  it('list goes on over all pages, from the moment that is asked for', async () => {
    const { read, github, issue, advance, clock } = await makeWorld();
    github.comment(issue, { id: 1, login: 'octocat' }, 'old');
    advance(3_600_000);
    const since = clock.now();
    for (let i = 0; i < 150; i++) github.comment(issue, { id: 1, login: 'octocat' }, `${i}`);
    expect(await read().list(ISSUE, since)).toHaveLength(150);
  });
});

describe('a request for a review', () => {
  it('asks the people named', async () => {
    const { provider, pull } = await makeWorld();
    await provider({ verb: 'pr', repositoryId: '501' }).requestReview({ thread: '501/issues/8' }, ['octocat']);
    expect(pull.requested).toEqual(['octocat']);
  });
});

describe('a reading', () => {
  it('reaches what is below the repository', async () => {
    const { read } = await makeWorld();
    expect(await read().get('501', 'contents/README.md')).toMatchObject({ type: 'file', path: 'README.md' });
    expect(await read().get('501', '')).toMatchObject({ id: 501, full_name: 'acme/shop' });
  });

  it.each([
    '../secrets/contents/key.txt',
    'contents/../../secrets',
    'contents//x',
    'contents/%2e%2e/x',
    'issues/7?x=1',
  ])('of %s is refused before it is sent', async (path) => {
    const { read, github } = await makeWorld();
    expect(await refusal(read().get('501', path))).toMatchObject({ kind: 'refused' });
    expect(github.seen).toEqual([]);
  });

  it('searches in its own repository alone, whatever the words say', async () => {
    const { read, github } = await makeWorld();
    await read().get('501', 'search/code', { q: 'secret' });
    expect(github.seen.at(-1)?.query.get('q')).toBe('secret repo:acme/shop');
  });

  it('of another repository than the provider was made for is refused (I8)', async () => {
    const { read, github } = await makeWorld();
    expect(await refusal(read().get('502', 'contents/key.txt'))).toMatchObject({ kind: 'refused' });
    expect(github.seen).toEqual([]);
  });

  it('is repeated where GitHub is down, a write is not', async () => {
    const { read, comment, github, names } = await makeWorld();
    github.fault(/^GET .*contents/, { status: 502 }, 2);
    expect(await read().get('501', 'contents/README.md')).toMatchObject({ path: 'README.md' });
    github.fault(/^POST .*comments/, { status: 502 }, 1);
    expect(await refusal(comment().post(ISSUE, 'x', 'eff_1'))).toMatchObject({ kind: 'unknown', status: 502 });
    expect(names().filter((name) => name === COMMENTS)).toHaveLength(1);
  });
});

describe('J75 a token', () => {
  it('is minted for each effect, for its repository and with what its verb needs', async () => {
    const { comment, github, names } = await makeWorld();
    await comment().post(ISSUE, 'a', 'eff_1');
    await comment().post(ISSUE, 'b', 'eff_2');
    expect(names().filter((name) => name === MINT)).toHaveLength(2);
    const [first] = github.seen;
    expect(first?.body).toEqual({
      permissions: { metadata: 'read', issues: 'write', pull_requests: 'write' },
      repository_ids: [501],
    });
  });

  it.each(['pr', 'review'] as const)('for %s changes no file', (verb) => {
    expect(PERMISSIONS[verb]).toMatchObject({ pull_requests: 'write', contents: 'read' });
  });

  it('for comments cannot read files', async () => {
    const { comment } = await makeWorld();
    expect(await refusal(comment().get('501', 'contents/README.md'))).toMatchObject({ kind: 'refused', status: 403 });
  });

  it('for reading is used again while five minutes are left, and no longer', async () => {
    const { read, names, advance } = await makeWorld();
    const mints = () => names().filter((name) => name === MINT).length;
    await read().get('501', 'contents/README.md');
    await read().get('501', 'contents/README.md');
    expect(mints()).toBe(1);
    advance(55 * 60_000 + 1_000);
    await read().get('501', 'contents/README.md');
    expect(mints()).toBe(2);
  });

  it('asks for less where the installation has less', async () => {
    const { read, github } = await makeWorld();
    github.installation.permissions = { metadata: 'read', contents: 'read', issues: 'write' };
    expect(await read().get('501', 'contents/README.md')).toMatchObject({ path: 'README.md' });
  });

  it('of a person is sent as it is', async () => {
    const { person, github } = await makeWorld();
    await person({ verb: 'comment', repositoryId: '501' }).post(ISSUE, 'a', 'eff_1');
    expect(github.seen.map(({ authorization }) => authorization)).toEqual(Array(2).fill(`Bearer ${PERSON_TOKEN}`));
  });
});

describe('a check', () => {
  it('says who we are', async () => {
    const { provider, person } = await makeWorld();
    expect(await provider({ verb: 'read' }).check()).toEqual({ login: 'baton-test[bot]' });
    expect(await person({ verb: 'read' }).check()).toEqual({ login: SELF.login });
  });

  it('of a suspended installation says so', async () => {
    const { provider, github } = await makeWorld();
    github.installation.suspended = true;
    expect(await refusal(provider({ verb: 'read' }).check())).toMatchObject({ code: 'suspended', status: 403 });
  });

  it('with a key that is none says nothing of the key', async () => {
    const { provider, github } = await makeWorld();
    Object.assign(github, { privateKey: 'hidden' });
    const error = await refusal(provider({ verb: 'read' }, { appId: '1' }).check());
    expect(error).toMatchObject({ kind: 'unauthorized' });
    expect(String(error)).not.toContain('hidden');
  });
});
