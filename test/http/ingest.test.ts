import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { makeIngest } from '../../lib/http/ingest.ts';
import { githubDelivery, type Inbox, makeInbox } from '../router/support/inbox.ts';
import { commentCreated } from '../router/support/payloads.ts';

interface Sent {
  readonly base64?: boolean;
  readonly path?: string;
  readonly method?: string;
}

const post = async (h: Inbox, headers: object, body: Uint8Array, how: Sent = {}) => {
  const rawPath = how.path ?? `/ingest/${h.sourceId}`;
  const event = {
    rawPath,
    headers,
    requestContext: { http: { method: how.method ?? 'POST', path: rawPath } },
    body: Buffer.from(body).toString(how.base64 === true ? 'base64' : 'utf8'),
    isBase64Encoded: how.base64 ?? false,
  } as unknown as APIGatewayProxyEventV2;
  const answer = (await makeIngest(h.deps)(event, {} as Context)) as APIGatewayProxyStructuredResultV2;
  return { ...answer, json: JSON.parse(answer.body ?? 'null') as Record<string, unknown> };
};

const unicode = () => githubDelivery('issue_comment', commentCreated({ body: '字体 café 😀 @team-agent' }));

describe('POST /ingest/{sourceId}', () => {
  it.each([true, false])('G58: a body that comes as base64 (%s) is verified and kept byte for byte', async (base64) => {
    const h = await makeInbox();
    const { headers, body } = unicode();
    const answer = await post(h, headers, body, { base64 });
    expect([answer.statusCode, answer.json.verdict]).toEqual([200, 'received']);
    expect(answer.headers?.['cache-control']).toBe('no-store');
    const [key = ''] = h.blobs.keys();
    expect(Buffer.from((await h.blobs.get(key)) ?? [])).toEqual(Buffer.from(body));
    await h.drain();
    expect(h.triggers()).toMatchObject([{ text: '字体 café 😀 @team-agent', gate: { class: 'explicit' } }]);
  });

  it('G61: the case of header names is nothing', async () => {
    const h = await makeInbox();
    const { headers, body } = unicode();
    const shouted = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    expect((await post(h, shouted, body)).statusCode).toBe(200);
  });

  it('G57: text that was read as ASCII on the way is refused', async () => {
    const h = await makeInbox();
    const { headers, body } = unicode();
    const answer = await post(h, headers, Buffer.from(Buffer.from(body).toString('ascii')));
    expect(answer).toMatchObject({ statusCode: 401, json: { code: 'bad_signature', status: 401 } });
    expect(answer.headers).toMatchObject({ 'content-type': 'application/problem+json' });
    expect(answer.headers).not.toHaveProperty('www-authenticate');
    expect(h.deliveries()).toEqual([]);
  });

  it('answers 404 to another path, method or source', async () => {
    const h = await makeInbox();
    const { headers, body } = unicode();
    for (const how of [{ path: '/ingest/src_x' }, { path: '/ingest' }, { path: '/v1/sources' }, { method: 'GET' }]) {
      expect((await post(h, headers, body, how)).statusCode, JSON.stringify(how)).toBe(404);
    }
  });

  it('answers 413 above six megabytes, before anything is read', async () => {
    const h = await makeInbox();
    const body = new Uint8Array(6 * 1024 * 1024 + 1);
    expect(await post(h, {}, body)).toMatchObject({ statusCode: 413, json: { code: 'body_too_large' } });
  });

  it('answers 503 where the table is busy, so that the provider comes again', async () => {
    const h = await makeInbox();
    const busy = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
    const deps = { ...h.deps, table: { ...h.table, transact: () => Promise.reject(busy) } };
    const { headers, body } = unicode();
    expect(await post({ ...h, deps }, headers, body)).toMatchObject({ statusCode: 503, json: { code: 'busy' } });
    expect((await post(h, headers, body)).json.verdict).toBe('received');
  });
});
