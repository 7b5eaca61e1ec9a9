import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeHttpProvider } from '../../../lib/channel/http/provider.ts';
import type { Source } from '../../../lib/router/source/source.ts';
import { EgressRefused } from '../../../lib/tools/egress-refused.ts';
import type { GuardedFetch } from '../../../lib/tools/tool.ts';
import { refusal } from '../../support/refusal.ts';

type Request = Parameters<GuardedFetch['fetch']>[0];
type Response = Awaited<ReturnType<GuardedFetch['fetch']>>;

const make = (
  answer: Partial<Response> | Error,
  more: { readonly replyUrl?: string; readonly until?: number } = {},
) => {
  const sent: Request[] = [];
  const fetch: GuardedFetch = {
    fetch: async (request) => {
      sent.push(request);
      if (answer instanceof Error) throw answer;
      return { status: 200, headers: {}, body: new Uint8Array(), truncated: false, url: request.url, ...answer };
    },
  };
  const source = { id: 'src_1', kind: 'http', replyUrl: 'https://hooks.example/reply', ...more } as Source;
  const needs = { verb: 'comment', ...(more.until !== undefined && { until: more.until }) } as const;
  const provider = makeHttpProvider({ fetch, clock: { now: () => 1_000 } })(source, { signing: ['new', 'old'] }, needs);
  return { provider, sent };
};
const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

describe('a reply of a generic source', () => {
  it('is signed over its bytes with the first secret and carries its key', async () => {
    const { provider, sent } = make({ status: 202, body: bytes({ id: 7, url: 'https://forum.example/7' }) });
    expect(await provider.post({ thread: 't', root: 'r' }, 'Grüße 😀', 'eff_1')).toEqual({
      id: '7',
      url: 'https://forum.example/7',
    });
    const [request] = sent;
    expect(JSON.parse(String(request?.body))).toEqual({
      type: 'reply',
      id: 'eff_1',
      thread: 't',
      root: 'r',
      text: 'Grüße 😀',
    });
    const signature = createHmac('sha256', 'new').update(String(request?.body)).digest('hex');
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://hooks.example/reply',
      redirects: 'none',
      headers: { 'x-baton-signature': `sha256=${signature}`, 'idempotency-key': 'eff_1' },
    });
  });

  it.each([[new Uint8Array()], [bytes('words')], [bytes({ id: {} })]])(
    'is known by its key where nothing is answered',
    async (body) => {
      const { provider } = make({ body });
      expect(await provider.post({ thread: 't' }, 'x', 'eff_1')).toEqual({ id: 'eff_1' });
    },
  );

  it('is edited by its id, without a key, so that going back to an older text is no repeat', async () => {
    const { provider, sent } = make({});
    await provider.edit({ thread: 't' }, '7', 'x', 'eff_1');
    expect(JSON.parse(String(sent[0]?.body))).toEqual({ type: 'edit', id: '7', thread: 't', text: 'x' });
    expect(sent[0]?.headers).not.toHaveProperty('idempotency-key');
  });

  it.each([
    [{ status: 400 }, { kind: 'refused' }],
    [{ status: 302 }, { kind: 'refused' }],
    [{ status: 401 }, { kind: 'unauthorized' }],
    [{ status: 404 }, { kind: 'gone' }],
    [{ status: 410 }, { kind: 'gone' }],
    [
      { status: 429, headers: { 'retry-after': '9' } },
      { kind: 'busy', retryAfterMs: 9_000 },
    ],
    [{ status: 500 }, { kind: 'unknown' }],
    [new Error('reset'), { kind: 'unknown' }],
    [new EgressRefused('Not there.'), { kind: 'refused' }],
  ] as const)('that meets %j is %j', async (answer, expected) => {
    const { provider } = make(answer as Partial<Response>);
    expect(await refusal(provider.post({ thread: 't' }, 'x', 'eff_1'))).toMatchObject(expected);
  });

  it('is not begun after the time of its lease, and nothing is read', async () => {
    const late = make({}, { until: 1_000 });
    expect(await refusal(late.provider.post({ thread: 't' }, 'x', 'k'))).toMatchObject({ kind: 'down' });
    expect(await refusal(late.provider.get('1', 'x'))).toMatchObject({ kind: 'refused' });
    expect(await refusal(late.provider.list({ thread: 't' }, 0))).toMatchObject({ kind: 'refused' });
    expect(late.sent).toEqual([]);
  });

  it('checks itself by a ping', async () => {
    const { provider, sent } = make({});
    expect(await provider.check()).toEqual({});
    expect(JSON.parse(String(sent[0]?.body))).toEqual({ type: 'ping' });
  });
});
