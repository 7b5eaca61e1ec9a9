import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { attentionIdOf } from '../../lib/attention/attention.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { set } from '../../lib/kernel/table.ts';
import { tellSource } from '../../lib/router/source/told.ts';
import { GITHUB, type Inbox, makeInbox } from '../router/support/inbox.ts';
import { alice, commentCreated, REPOSITORY } from '../router/support/payloads.ts';

const { token: _, ...rest } = GITHUB;
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
});
const INSTALLATION = 55500001;
const APP = {
  ...rest,
  appId: '31337',
  installationId: String(INSTALLATION),
  privateKey,
  repositories: [
    { id: String(REPOSITORY.id), fullName: REPOSITORY.full_name },
    { id: '2', fullName: 'example-org/other' },
  ],
};

const access = (action: string, times: object) => ({
  action,
  installation: { id: INSTALLATION, created_at: 1557933591, ...times },
  sender: alice,
});
const suspended = access('suspend', {
  updated_at: '2026-11-30T02:10:00Z',
  suspended_at: '2026-11-30T02:10:00Z',
});
const unsuspended = access('unsuspend', { updated_at: '2026-11-30T02:20:00Z', suspended_at: null });

const items = (h: Inbox) => h.table.dump().filter(({ pk, sk }) => pk.endsWith('#ATTENTION') && sk.startsWith('att_'));

describe('J74: the life of an installation', () => {
  it('suspended it stops the source and asks a person once, however often it is told', async () => {
    const h = await makeInbox(APP);
    await h.tell('installation', suspended);
    await h.tell('installation', suspended);
    expect(await h.stands()).toMatchObject({
      state: 'suspended',
      reason: 'The installation was suspended at GitHub.',
      toldAt: Date.parse('2026-11-30T02:10:00Z'),
    });
    expect(items(h)).toMatchObject([{ kind: 'source_stopped', subjectId: h.sourceId }]);
    await h.tell('installation', unsuspended);
    expect(await h.stands()).toMatchObject({ state: 'active' });
    expect(await h.stands()).not.toHaveProperty('reason');
    expect(items(h)).toEqual([]);
  });

  it('C29: told in the wrong order it ends in the same state', async () => {
    const h = await makeInbox(APP);
    await h.tell('installation', unsuspended);
    await h.tell('installation', suspended);
    expect((await h.stands())?.state).toBe('active');
    await h.tell('installation', { ...unsuspended, hook: 2 });
    expect((await h.stands())?.state).toBe('active');
    expect(items(h)).toEqual([]);
  });

  it('uninstalled it is gone, and the item says so instead of the one before', async () => {
    const h = await makeInbox(APP);
    await h.tell('installation', suspended);
    await h.tell('installation', access('deleted', { updated_at: '2026-11-30T02:10:00Z' }));
    expect((await h.stands())?.state).toBe('gone');
    expect(items(h)).toMatchObject([{ question: expect.stringContaining('uninstalled') }]);
  });

  it('is heard of while suspended, and events of that time are still kept', async () => {
    const h = await makeInbox(APP);
    await h.tell('installation', suspended);
    expect((await h.tell('issue_comment', commentCreated())).verdict).toBe('resolved');
  });

  it('does not wake what a person has paused', async () => {
    const h = await makeInbox(APP);
    const paused = { ...(await h.stands()), state: 'paused' };
    await h.table.update(keys.source(h.orgId, h.sourceId), [set('state', 'paused')]);
    await tellSource(h.table, h.orgId, h.sourceId, { at: h.clock.now(), state: 'active' }, h.clock.now());
    await tellSource(h.table, h.orgId, h.sourceId, { at: h.clock.now(), state: 'gone' }, h.clock.now());
    expect(await h.stands()).toEqual(paused);
    expect(items(h)).toEqual([]);
  });

  it('is nothing to a source that signs in by a token', async () => {
    const h = await makeInbox();
    expect((await h.tell('installation', suspended)).reason?.code).toBe('not_an_app');
    expect((await h.stands())?.state).toBe('active');
  });

  it('a refusal that is met elsewhere tells the same, once for all who meet it at the same time', async () => {
    const h = await makeInbox(APP);
    const tidings = { at: h.clock.now(), state: 'suspended', reason: 'GitHub answers 403.' } as const;
    const changed = await Promise.all(
      [1, 2, 3].map(() => tellSource(h.table, h.orgId, h.sourceId, tidings, h.clock.now())),
    );
    expect(changed.filter(Boolean)).toHaveLength(1);
    expect(items(h).map(({ sk }) => sk)).toEqual([
      attentionIdOf({
        orgId: h.orgId,
        kind: 'source_stopped',
        subject: { type: 'source', id: h.sourceId },
        at: tidings.at,
      }),
    ]);
  });
});

describe('repositories of a source', () => {
  const removed = (ids: number[]) => ({
    action: 'removed',
    installation: { id: INSTALLATION },
    repositories_removed: ids.map((id) => ({ id })),
    sender: alice,
  });

  it('that are taken away are out of scope from then on', async () => {
    const h = await makeInbox(APP);
    await h.tell('installation_repositories', removed([REPOSITORY.id, 77]));
    expect((await h.stands())?.repositories).toEqual([{ id: '2', fullName: 'example-org/other' }]);
    expect((await h.tell('issue_comment', commentCreated())).reason?.code).toBe('other_repository');
  });

  it('keep their number under another name, and after a transfer', async () => {
    const h = await makeInbox(APP);
    for (const [action, full_name] of [
      ['renamed', 'example-org/gadget'],
      ['transferred', 'other-org/gadget'],
    ]) {
      await h.tell('repository', { action, repository: { ...REPOSITORY, full_name }, sender: alice });
      expect((await h.stands())?.repositories?.[0]).toEqual({ id: String(REPOSITORY.id), fullName: full_name });
    }
    expect((await h.tell('issue_comment', commentCreated())).verdict).toBe('resolved');
  });

  it('are never more than a person has listed', async () => {
    const h = await makeInbox(APP);
    const added = { action: 'added', repositories_added: [{ id: 9 }], sender: alice };
    expect((await h.tell('installation_repositories', added)).reason?.code).toBe('action_not_read');
    expect((await h.stands())?.repositories).toHaveLength(2);
  });

  it('are not listed where nobody has listed any', async () => {
    const h = await makeInbox({ ...APP, repositories: undefined });
    expect((await h.tell('installation_repositories', removed([1]))).reason?.code).toBe('no_list');
  });
});
