import { describe, expect, it } from 'vitest';
import { ALICE, GITHUB, makeInbox, SELF } from '../router/support/inbox.ts';
import {
  alice,
  commentCreated,
  issueEvent,
  ourselves,
  person,
  pullEvent,
  REPOSITORY,
  seconds,
} from '../router/support/payloads.ts';

const ms = (at: number): number => Date.parse(seconds(at));

describe('issues and pull requests', () => {
  it('opening is a Trigger with title and body, and an open subject', async () => {
    const h = await makeInbox();
    await h.tell('issues', issueEvent('opened'));
    expect(h.threads()).toMatchObject([{ key: 'gh:900000001:issue:42', subject: { state: 'open', at: ms(0) } }]);
    expect(h.triggers()).toMatchObject([
      { kind: 'issue', scope: 'issues', text: 'Fonts\n\nThey are too small.', actor: { id: ALICE } },
    ]);
    expect(h.triggers()).toHaveLength(1);
  });

  it('a comment on an issue and one on a pull request of one number are two Threads', async () => {
    const h = await makeInbox();
    await h.tell('issue_comment', commentCreated({ id: 1 }));
    await h.tell('issue_comment', commentCreated({ id: 2, issue: { pull_request: { url: 'x' } } }));
    expect(h.threads().map(({ key }) => key)).toEqual(
      expect.arrayContaining(['gh:900000001:issue:42', 'gh:900000001:pr:42']),
    );
    // The same Thread as the pull request's own events.
    await h.tell('pull_request', pullEvent('opened'));
    expect(h.threads()).toHaveLength(2);
  });

  it('A7 C29: closed, merged and reopened are states, whoever did it; an older one that comes late changes nothing', async () => {
    const h = await makeInbox();
    await h.tell('pull_request', pullEvent('opened'));
    const merged = pullEvent('closed', { sender: ourselves }, { merged: true, merged_at: seconds(60) });
    await h.tell('pull_request', merged);
    expect(h.threads()[0]?.subject).toEqual({ state: 'merged', at: ms(60) });
    await h.tell('pull_request', pullEvent('reopened', {}, { updated_at: seconds(30) }));
    expect(h.threads()[0]?.subject).toEqual({ state: 'merged', at: ms(60) });
    await h.tell('issues', issueEvent('closed', { sender: ourselves }, { number: 7, closed_at: seconds(5) }));
    expect(h.threads().find(({ key }) => key.endsWith(':7'))?.subject).toEqual({ state: 'closed', at: ms(5) });
    // Of all that only the opening was somebody's word.
    expect(h.triggers()).toHaveLength(1);
  });

  it('I1: what we open, edit, label or push makes nothing', async () => {
    const h = await makeInbox();
    const own = { sender: ourselves };
    const told = [
      await h.tell('issues', issueEvent('opened', own, { user: ourselves })),
      await h.tell('pull_request', pullEvent('opened', own, { user: ourselves })),
      await h.tell('pull_request', pullEvent('synchronize', own, { user: ourselves })),
      await h.tell('issues', issueEvent('labeled', { ...own, label: { id: 1, name: 'x' } })),
      await h.tell('issues', issueEvent('edited', { changes: { body: { from: 'a' } } }, { user: ourselves })),
    ];
    expect(told.map(({ reason }) => reason?.code)).toEqual(told.map(() => 'own_message'));
    expect(h.triggers()).toEqual([]);
    // What somebody does to ours is their own doing.
    await h.tell('pull_request', pullEvent('synchronize', { sender: alice }, { user: ourselves }));
    expect(h.triggers()).toMatchObject([{ kind: 'push', actor: { id: ALICE } }]);
  });

  it('an edit of the base branch, or one that was taken back, is dropped', async () => {
    const h = await makeInbox();
    const base = await h.tell('pull_request', pullEvent('edited', { changes: { base: { ref: { from: 'main' } } } }));
    const back = await h.tell('issues', issueEvent('edited', { changes: { title: { from: 'Fonts' } } }));
    expect([base.reason?.code, back.reason?.code]).toEqual(['unchanged', 'unchanged']);
    const real = issueEvent('edited', { changes: { title: { from: 'Fnots' } } }, { updated_at: seconds(9) });
    expect((await h.tell('issues', real)).verdict).toBe('resolved');
    expect(h.triggers()).toMatchObject([{ edited: true, text: 'Fonts\n\nThey are too small.' }]);
  });

  it('B21: six labels are six Triggers of one Thread, each of its own label; set again one is the same', async () => {
    const h = await makeInbox();
    const labels = [1, 2, 3, 4, 5, 6].map((id) => ({ id, name: `label ${id}` }));
    for (const label of labels) await h.tell('issues', issueEvent('labeled', { label }, { labels }));
    expect(
      h
        .triggers()
        .map(({ text }) => text)
        .sort(),
    ).toEqual(labels.map(({ name }) => `Label added: ${name}`));
    expect(h.threads()).toHaveLength(1);
    await h.tell('issues', issueEvent('labeled', { label: labels[0] }, { labels, updated_at: seconds(99) }));
    expect(h.triggers()).toHaveLength(6);
    expect(h.triggers().every(({ revision }) => revision === 1)).toBe(true);
  });

  it('C31: a label on a pull request that nobody has told of makes its Thread', async () => {
    const h = await makeInbox();
    await h.tell('pull_request', pullEvent('labeled', { label: { id: 1, name: 'ready' } }));
    await h.tell('pull_request', pullEvent('opened'));
    expect(h.threads()).toMatchObject([
      { key: 'gh:900000001:pr:42', title: 'Fonts, larger', subject: { state: 'open' } },
    ]);
    expect(
      h
        .triggers()
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(['label', 'pull_request']);
  });

  it('to be assigned or asked for a review names us; when others are, it is dropped', async () => {
    const h = await makeInbox();
    const us = { id: Number(SELF.id), login: SELF.login, type: 'Bot' };
    await h.tell('issues', issueEvent('assigned', { assignee: us }));
    await h.tell('pull_request', pullEvent('review_requested', { requested_reviewer: us }));
    expect(h.triggers().map(({ gate, kind }) => [kind, gate.class])).toEqual([
      ['assignment', 'explicit'],
      ['assignment', 'explicit'],
    ]);
    const other = await h.tell('issues', issueEvent('assigned', { assignee: person(3) }));
    expect(other.reason?.code).toBe('not_for_us');
    expect(h.triggers()).toHaveLength(2);
  });

  it('an issue that is deleted takes its Trigger with it', async () => {
    const h = await makeInbox();
    await h.tell('issues', issueEvent('opened'));
    await h.tell('issues', issueEvent('deleted'));
    expect(h.triggers()).toMatchObject([{ state: 'withdrawn' }]);
    expect(h.threads()).toMatchObject([{ subject: { state: 'gone' } }]);
  });
});

describe('an issue that moves to another repository', () => {
  const to = { id: 900000002, full_name: 'example-org/gadget' };
  const transferred = issueEvent('transferred', {
    changes: { new_issue: { id: 611, number: 3 }, new_repository: to },
  });
  const arrived = {
    ...issueEvent(
      'opened',
      { changes: { old_issue: { id: 610000001, number: 42 }, old_repository: REPOSITORY } },
      { id: 611, number: 3 },
    ),
    repository: to,
  };

  it('stays one Thread, whichever repository tells first', async () => {
    for (const order of [
      [transferred, arrived],
      [arrived, transferred],
    ]) {
      const h = await makeInbox();
      await h.tell('issue_comment', commentCreated());
      for (const event of order) await h.tell('issues', event);
      const later = { ...commentCreated({ id: 2, issue: { id: 611, number: 3 } }), repository: to };
      await h.tell('issue_comment', later);
      expect(h.threads()).toHaveLength(1);
      const last = h.triggers().find(({ repositoryId }) => repositoryId === String(to.id));
      expect(last?.replyTo).toEqual({ thread: '900000002/issues/3' });
    }
  });

  it('is gone where we do not see the other repository', async () => {
    const h = await makeInbox({
      ...GITHUB,
      repositories: [{ id: String(REPOSITORY.id), fullName: REPOSITORY.full_name }],
    });
    await h.tell('issue_comment', commentCreated());
    await h.tell('issues', transferred);
    expect(h.threads()).toMatchObject([{ subject: { state: 'gone' } }]);
  });
});
