import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../lib/router/channel.ts';
import { resolveDelivery, retryResolveSeconds } from '../../lib/router/ingest/resolve.ts';
import { GITHUB, githubDelivery, type Inbox, makeInbox } from '../router/support/inbox.ts';
import { alice, bob, ourselves, pullOf, REPOSITORY, seconds } from '../router/support/payloads.ts';
import { sample } from '../router/support/samples.ts';

const REVIEW = {
  id: 650000001,
  user: alice,
  body: 'Nearly.',
  state: 'changes_requested',
  commit_id: 'b'.repeat(40),
  submitted_at: seconds(10),
  author_association: 'MEMBER',
  html_url: 'https://github.com/example-org/widget/pull/42#pullrequestreview-650000001',
};
const PATH = `pulls/42/reviews/${REVIEW.id}`;

const noteOf = (id: number, body: string, more: object = {}) => ({
  id,
  body,
  path: 'src/fonts.ts',
  line: id,
  user: alice,
  pull_request_review_id: REVIEW.id,
  created_at: seconds(10),
  updated_at: seconds(10),
  ...more,
});
const NOTES = [noteOf(1, 'Too small.'), noteOf(2, '@team-agent make this 14'), noteOf(3, 'And this.')];

const review = (action = 'submitted', more: object = {}) => ({
  action,
  review: REVIEW,
  pull_request: pullOf(),
  repository: REPOSITORY,
  sender: alice,
  ...more,
});
const note = (each: object, action = 'created', more: object = {}) => ({
  action,
  comment: each,
  pull_request: pullOf(),
  repository: REPOSITORY,
  sender: alice,
  ...more,
});

const serve = (h: Inbox, shown: object = REVIEW, notes: readonly object[] = NOTES): void => {
  h.pages.set(PATH, shown);
  h.pages.set(`${PATH}/comments`, notes);
};

const EVENTS = [
  ['pull_request_review', review()],
  ...NOTES.map((each) => ['pull_request_review_comment', note(each)]),
] as [string, object][];

describe('a review with its notes', () => {
  it('B23: three notes and the review are one Trigger that shows all of them, in whatever order they come', async () => {
    for (const order of [EVENTS, EVENTS.toReversed()]) {
      const h = await makeInbox();
      serve(h);
      for (const [event, payload] of order) await h.tell(event, payload);
      expect(h.triggers()).toHaveLength(1);
      const [trigger] = h.triggers();
      expect(trigger).toMatchObject({
        kind: 'review',
        revision: 1,
        actor: { id: String(alice.id) },
        replyTo: { thread: '900000001/issues/42' },
        occurredAt: Date.parse(seconds(10)),
        // The mention stands in a note alone.
        gate: { class: 'explicit' },
      });
      for (const body of ['Nearly.', 'Too small.', '@team-agent make this 14', 'And this.', 'src/fonts.ts line 2']) {
        expect(trigger?.text).toContain(body);
      }
      expect(trigger?.text).toContain('changes requested, of commit bbbbbbbbbbbb');
    }
  });

  it('a single note is answered where it stands, at the root of its thread', async () => {
    const h = await makeInbox();
    serve(h, { ...REVIEW, body: '', state: 'commented' }, [noteOf(9, 'Why?', { in_reply_to_id: 5 })]);
    await h.tell('pull_request_review_comment', note(noteOf(9, 'Why?', { in_reply_to_id: 5 })));
    expect(h.triggers()).toMatchObject([{ replyTo: { thread: '900000001/issues/42', root: '5' } }]);
  });

  it('sample: an approval of a commit that is not the head, on a fork, says which commit', async () => {
    const { raw } = sample('github-03-pull_request_review-approved-stale-fork');
    const h = await makeInbox();
    const told = JSON.parse(Buffer.from(raw.body).toString()) as { review: object };
    h.pages.set('pulls/42/reviews/650000001', told.review);
    h.pages.set('pulls/42/reviews/650000001/comments', []);
    await h.send(raw);
    await h.drain();
    expect(h.threads()).toMatchObject([{ key: 'gh:900000001:pr:42' }]);
    expect(h.triggers()).toMatchObject([
      { actor: { id: '700000002', type: 'user', association: 'COLLABORATOR' }, gate: { class: 'inferred' } },
    ]);
    expect(h.triggers()[0]?.text).toBe('Review: approved, of commit bbbbbbbbbbbb.\n\nLGTM');
  });

  it('I1: our own reviews and notes make nothing', async () => {
    const h = await makeInbox();
    serve(h);
    const own = { sender: ourselves };
    const told = [
      await h.tell('pull_request_review', review('submitted', { ...own, review: { ...REVIEW, user: ourselves } })),
      await h.tell('pull_request_review_comment', note(noteOf(1, 'x', { user: ourselves }), 'created', own)),
    ];
    expect(told.map(({ reason }) => reason?.code)).toEqual(['own_message', 'own_message']);
    expect([h.triggers(), h.asked]).toEqual([[], []]);
  });

  it('an edited note is a revision; deleting the last one withdraws a review that says nothing else', async () => {
    const h = await makeInbox();
    const bare = { ...REVIEW, body: '', state: 'commented' };
    serve(h, bare, [NOTES[0] ?? {}]);
    await h.tell('pull_request_review', review());
    serve(h, bare, [noteOf(1, 'Much too small.')]);
    const edited = note(noteOf(1, 'Much too small.', { updated_at: seconds(90) }), 'edited', { sender: bob });
    await h.tell('pull_request_review_comment', edited);
    expect(h.triggers()).toMatchObject([
      { revision: 2, edited: true, actor: { id: String(bob.id) }, authorId: String(alice.id) },
    ]);
    serve(h, bare, []);
    await h.tell('pull_request_review_comment', note(noteOf(1, 'x'), 'deleted', { sender: bob }));
    expect(h.triggers()).toMatchObject([{ state: 'withdrawn' }]);
  });

  it('a dismissal is a revision, by whoever dismissed it', async () => {
    const h = await makeInbox();
    serve(h);
    await h.tell('pull_request_review', review());
    serve(h, { ...REVIEW, state: 'dismissed' });
    const later = { pull_request: pullOf({ updated_at: seconds(99) }), sender: bob };
    await h.tell('pull_request_review', review('dismissed', later));
    expect(h.triggers()).toMatchObject([{ revision: 2, actor: { id: String(bob.id) } }]);
    expect(h.triggers()[0]?.text).toContain('Review: dismissed');
    expect(h.triggers()[0]?.gate.class).not.toBe('explicit');
  });

  it('a review that GitHub does not know any more is withdrawn', async () => {
    const h = await makeInbox();
    serve(h);
    await h.tell('pull_request_review', review());
    h.pages.clear();
    await h.tell('pull_request_review', review('edited'));
    expect(h.triggers()).toMatchObject([{ state: 'withdrawn' }]);
  });
});

describe('when GitHub cannot be asked', () => {
  it('without credentials a review is what its event shows, and each note is a Trigger of its own', async () => {
    const h = await makeInbox({ ...GITHUB, token: undefined });
    for (const [event, payload] of EVENTS) await h.tell(event, payload);
    expect(h.asked).toEqual([]);
    expect(h.triggers()).toHaveLength(4);
    expect(h.triggers().filter(({ replyTo }) => replyTo.root !== undefined)).toHaveLength(3);
  });

  it('J74: a refusal (403) is no reason to come back: what the event shows stands in', async () => {
    const h = await makeInbox();
    h.pages.set(PATH, new ProviderError('refused', 'suspended', { status: 403 }));
    expect((await h.tell('pull_request_review', review())).verdict).toBe('resolved');
    expect(h.triggers()[0]?.text).toContain('Nearly.');
  });

  it('a busy GitHub says when to come back, and the delivery waits for it', async () => {
    const h = await makeInbox();
    const busy = new ProviderError('busy', 'secondary limit', { status: 429, retryAfterMs: 61_500 });
    h.pages.set(PATH, busy);
    await h.send(githubDelivery('pull_request_review', review()));
    const message = h.inbox.take()[0]?.message;
    if (message === undefined) throw new Error('no message');
    await expect(resolveDelivery(h.resolveDeps, message)).rejects.toBe(busy);
    expect(h.deliveries()).toMatchObject([{ verdict: 'received' }]);
    expect(retryResolveSeconds(busy, 1)).toBe(62);
    expect(retryResolveSeconds(new Error('x'), 3)).toBe(8);
    expect(retryResolveSeconds(new ProviderError('busy', 'x', { retryAfterMs: 9e9 }), 1)).toBe(900);
    serve(h);
    await resolveDelivery(h.resolveDeps, message);
    expect(h.triggers()).toHaveLength(1);
  });
});
