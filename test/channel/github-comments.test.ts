import { describe, expect, it } from 'vitest';
import { githubChannel } from '../../lib/channel/github/channel.ts';
import { ALICE, GITHUB, githubDelivery, makeInbox, SELF, signed } from '../router/support/inbox.ts';
import {
  alice,
  bob,
  commentCreated,
  commentDeleted,
  commentEdited,
  ourselves,
  person,
  REPOSITORY,
  seconds,
} from '../router/support/payloads.ts';
import { sample } from '../router/support/samples.ts';

describe('samples', () => {
  it('G57: CJK and emoji verify as bytes; a copy that was encoded anew does not', async () => {
    const { raw, secret } = sample('github-01-issue_comment-pr-mention-unicode');
    const secrets = { signing: [secret] };
    expect(githubChannel.verify(raw, secrets)).toEqual({ ok: true });
    const text = Buffer.from(raw.body).toString();
    const copies = {
      latin: Buffer.from(text, 'latin1'),
      ascii: Buffer.from(Buffer.from(raw.body).toString('ascii')),
      pretty: Buffer.from(JSON.stringify(JSON.parse(text), null, 1)),
      escaped: Buffer.from(text.replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`)),
    };
    for (const body of Object.values(copies)) {
      expect(githubChannel.verify({ ...raw, body }, secrets)).toMatchObject({ ok: false, code: 'signature_mismatch' });
    }
  });

  it('a comment on a pull request that names us below a quote and code is an explicit request there', async () => {
    const h = await makeInbox();
    await h.send(sample('github-01-issue_comment-pr-mention-unicode').raw);
    await h.drain();
    expect(h.deliveries()).toMatchObject([{ verdict: 'resolved' }]);
    expect(h.threads()).toMatchObject([
      { key: 'gh:900000001:pr:42', title: '字体设置 café 😀', replyTo: { thread: '900000001/issues/42' } },
    ]);
    expect(h.triggers()).toMatchObject([
      {
        kind: 'comment',
        scope: 'issue_comment',
        actor: { id: ALICE, type: 'user', association: 'MEMBER' },
        gate: { class: 'explicit' },
        replyTo: { thread: '900000001/issues/42' },
        occurredAt: Date.parse('2026-11-30T02:00:00Z'),
        repositoryId: '900000001',
      },
    ]);
  });
});

describe('our own words', () => {
  it.each([
    ['A1 A2 I1: that we wrote', commentCreated({ user: ourselves, sender: ourselves })],
    ['that we wrote and a person edits', commentEdited({ user: ourselves, sender: alice, body: '@team-agent stop' })],
    ['that we wrote and a person deletes', commentDeleted({ user: ourselves, sender: alice })],
    ['of a person that we edit', commentEdited({ user: alice, sender: ourselves })],
    [
      'that our app wrote in a person’s name',
      commentCreated({ more: { performed_via_github_app: { id: Number(SELF.appId) } } }),
    ],
  ])('a comment %s makes nothing', async (_, payload) => {
    const h = await makeInbox();
    expect(await h.tell('issue_comment', payload)).toMatchObject({
      verdict: 'dropped',
      reason: { code: 'own_message' },
    });
    expect([h.triggers(), h.threads(), h.blobs.keys()]).toEqual([[], [], []]);
  });

  it('F50: we are a number: the same name with another number, and another name with ours', async () => {
    const h = await makeInbox();
    const namesake = person(5, 'team-agent[bot]', 'Bot');
    await h.tell('issue_comment', commentCreated({ id: 1, user: namesake, sender: namesake }));
    expect(h.triggers()).toMatchObject([{ actor: { id: '5', type: 'bot' } }]);
    const renamed = { ...ourselves, login: 'renamed' };
    const own = await h.tell('issue_comment', commentCreated({ id: 2, user: renamed, sender: renamed }));
    expect(own.reason?.code).toBe('own_message');
  });

  it('A3 A8 A10 F50: other bots are heard, and are never more than bots', async () => {
    const h = await makeInbox(GITHUB, { allow: [{ sourceId: '*', actorId: '7' }] });
    const shapes = [
      person(7, 'helper[bot]', 'Bot'),
      person(8, 'helper', 'Bot'),
      // A kind that nobody has told us of, and a bot that calls itself a person.
      person(9, 'org', 'Organization'),
      person(10, 'sly[bot]', 'User'),
    ];
    for (const [index, sender] of shapes.entries()) {
      await h.tell('issue_comment', commentCreated({ id: index + 1, user: sender, sender }));
    }
    expect(h.triggers().map(({ actor }) => actor.type)).toEqual(['bot', 'bot', 'bot', 'bot']);
    expect(h.triggers().filter(({ gate }) => gate.class === 'explicit')).toEqual([]);
  });

  it('an account that was deleted is nobody', async () => {
    const h = await makeInbox();
    await h.tell('issue_comment', commentCreated({ user: null, sender: null }));
    expect(h.triggers()).toMatchObject([{ actor: { id: '0', type: 'anonymous' } }]);
    expect(h.triggers()[0]?.gate.class).not.toBe('explicit');
  });
});

describe('edits and deletions', () => {
  it('an edit is a revision of the same Trigger, whichever of the two comes first', async () => {
    for (const order of ['created first', 'edited first']) {
      const h = await makeInbox();
      const events = [commentCreated({ body: 'one' }), commentEdited({ body: 'two' }, 'one')];
      for (const event of order === 'created first' ? events : events.toReversed()) {
        await h.tell('issue_comment', event);
      }
      expect(h.triggers(), order).toMatchObject([{ text: 'two' }]);
      expect(h.threads()).toHaveLength(1);
    }
  });

  it('C33: who edits another’s comment stands beside its author, and makes nobody explicit', async () => {
    const h = await makeInbox();
    await h.tell('issue_comment', commentEdited({ user: bob, sender: alice, body: '@team-agent do it' }));
    expect(h.triggers()).toMatchObject([{ actor: { id: ALICE }, authorId: String(bob.id) }]);
    expect(h.triggers()[0]?.gate.class).not.toBe('explicit');
  });

  it('C34: an edit that leaves the text as it was is dropped', async () => {
    const h = await makeInbox();
    const told = await h.tell('issue_comment', commentEdited({ body: 'same' }, 'same'));
    expect(told).toMatchObject({ verdict: 'dropped', reason: { code: 'unchanged' } });
  });

  it('C36: a comment that is deleted before anybody looked is withdrawn, also when the deletion comes first', async () => {
    for (const order of ['created first', 'deleted first']) {
      const h = await makeInbox();
      const events = [commentCreated(), commentDeleted()];
      for (const event of order === 'created first' ? events : events.toReversed()) {
        await h.tell('issue_comment', event);
      }
      expect(h.triggers(), order).toMatchObject([{ state: 'withdrawn' }]);
      expect(h.table.dump().filter(({ sk }) => sk.startsWith('PENDING#'))).toEqual([]);
    }
  });
});

describe('what is not ours', () => {
  const scoped = { ...GITHUB, repositories: [{ id: String(REPOSITORY.id), fullName: REPOSITORY.full_name }] };

  it('drops events of repositories that are not on the list', async () => {
    const h = await makeInbox(scoped);
    expect((await h.tell('issue_comment', commentCreated())).verdict).toBe('resolved');
    const other = { ...commentCreated({ id: 2 }), repository: { id: 1, full_name: 'x/y' } };
    expect(await h.tell('issue_comment', other)).toMatchObject({ reason: { code: 'other_repository' } });
  });

  it('drops events of another installation of the same app', async () => {
    const h = await makeInbox({ ...GITHUB, installationId: '55500001' });
    const other = { ...commentCreated(), installation: { id: 55500002 } };
    expect(await h.tell('issue_comment', other)).toMatchObject({ reason: { code: 'other_installation' } });
    const ours = { ...commentCreated(), installation: { id: 55500001 } };
    expect((await h.tell('issue_comment', ours)).verdict).toBe('resolved');
  });
});

describe('forms', () => {
  it('reads a hook that is set to send forms', async () => {
    const h = await makeInbox();
    const body = Buffer.from(`payload=${encodeURIComponent(JSON.stringify(commentCreated({ body: 'a+b & 😀' })))}`);
    const { headers } = githubDelivery('issue_comment', {}, { 'x-hub-signature-256': signed(body) });
    await h.send({ headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' }, body });
    await h.drain();
    expect(h.triggers()).toMatchObject([{ text: 'a+b & 😀', occurredAt: Date.parse(seconds(0)) }]);
  });
});
