import { describe, expect, it } from 'vitest';
import { ingest } from '../../lib/router/ingest/ingest.ts';
import type { GivenSource } from '../../lib/router/source/given.ts';
import { ALICE, makeInbox, signed } from '../router/support/inbox.ts';

const HTTP: GivenSource = { kind: 'http', name: 'alerts', secrets: ['sample-http-secret'] };
const good = { id: 'a-1', thread: 'disk', actor: { id: ALICE, type: 'user' }, text: 'The disk is full 😀' };

const delivery = (message: unknown, secret = 'sample-http-secret') => {
  const body = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
  return { headers: { 'x-baton-signature': signed(body, secret) }, body };
};

describe('an http source', () => {
  it('makes a Trigger of a message, in the Thread that the message names', async () => {
    const h = await makeInbox(HTTP);
    await h.send(delivery({ ...good, url: 'https://example.org/alerts/1' }));
    await h.send(delivery({ ...good, id: 'a-2', text: 'Still.' }));
    await h.drain();
    expect(h.threads()).toMatchObject([{ key: 'http:disk', title: 'disk', replyTo: { thread: 'disk' } }]);
    expect(h.triggers()).toHaveLength(2);
    expect(h.triggers().find(({ text }) => text === good.text)).toMatchObject({
      kind: 'message',
      scope: 'message',
      url: 'https://example.org/alerts/1',
      occurredAt: h.clock.now(),
      // Whoever posts here talks to us.
      gate: { class: 'explicit' },
    });
  });

  it('I2: one id is one message, however often it comes', async () => {
    const h = await makeInbox(HTTP);
    expect((await h.send(delivery(good))).verdict).toBe('received');
    expect((await h.send(delivery({ ...good, text: 'another' }))).verdict).toBe('duplicate');
    await h.drain();
    expect(h.triggers()).toMatchObject([{ text: good.text }]);
  });

  it('I3 I4: a bot, and somebody who is not listed, are never explicit', async () => {
    const h = await makeInbox(HTTP);
    await h.send(delivery({ ...good, id: '1', actor: { id: ALICE, type: 'bot' } }));
    await h.send(delivery({ ...good, id: '2', actor: { id: 'stranger', type: 'user' } }));
    await h.drain();
    expect(h.triggers().map(({ gate }) => gate.class)).not.toContain('explicit');
    expect(h.triggers()).toHaveLength(2);
  });

  it('answers 401 to a signature of another source, and to none', async () => {
    const h = await makeInbox(HTTP);
    await expect(h.send(delivery(good, 'of another'))).rejects.toMatchObject({ status: 401 });
    await expect(h.send({ headers: {}, body: delivery(good).body })).rejects.toMatchObject({ status: 401 });
    await expect(ingest(h.deps, h.sourceId, delivery(good, ''))).rejects.toMatchObject({ status: 401 });
    expect(h.deliveries()).toEqual([]);
  });

  it.each([
    ['text', { ...good, text: '' }],
    ['text', { ...good, text: undefined }],
    ['thread', { ...good, thread: 'x'.repeat(201) }],
    ['actor', { ...good, actor: ALICE }],
    ['type', { ...good, actor: { id: ALICE, type: 'human' } }],
    ['url', { ...good, url: 'javascript:alert(1)' }],
    ['mandate', { ...good, mandate: 'merge' }],
    ['object', 'not json'],
    ['object', '[]'],
  ])('answers 400 to a wrong %s and names it', async (field, message) => {
    const h = await makeInbox(HTTP);
    await expect(h.send(delivery(message))).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(field),
    });
    expect(h.deliveries()).toEqual([]);
  });
});
