import { describe, expect, it } from 'vitest';
import type { GuardedFetch } from '../../lib/tools/tool.ts';
import { attempt, prepare } from '../../lib/webhook/attempt.ts';
import { newDeliveryItem, readDelivery } from '../../lib/webhook/delivery.ts';
import type { Endpoint } from '../../lib/webhook/endpoint.ts';
import { deleteDocument, putDocument } from '../../lib/webhook/secret-document.ts';
import { newSigningSecret, signatures } from '../../lib/webhook/sign.ts';
import { makeMemorySecrets } from '../support/memory-secrets.ts';

const NOW = Date.UTC(2026, 0, 1, 0, 0, 7);
type Request = Parameters<GuardedFetch['fetch']>[0];
type Response = Awaited<ReturnType<GuardedFetch['fetch']>>;

const event = { id: 'eff_1', type: 'question.asked' as const, at: NOW, sequence: 3, data: { question: 'ä' } };
const delivery = readDelivery(newDeliveryItem('org_1', 'whk_1', event, NOW));

const world = async (answer: Partial<Response> | Error, judgeUrl = (): string | undefined => undefined) => {
  const secrets = makeMemorySecrets();
  const owner = { orgId: 'org_1', webhookId: 'whk_1' };
  const [fresh, old, gone] = [newSigningSecret(), newSigningSecret(), newSigningSecret()];
  const secretRef = await putDocument(secrets, owner, {
    secrets: [{ secret: fresh }, { secret: old, until: NOW + 1 }, { secret: gone, until: NOW }],
    headers: { 'X-Key': 'hidden', 'Webhook-Id': 'forged' },
  });
  const sent: Request[] = [];
  const deps = {
    clock: { now: () => NOW },
    secrets,
    judgeUrl,
    fetch: {
      fetch: async (request: Request): Promise<Response> => {
        sent.push(request);
        if (answer instanceof Error) throw answer;
        return { status: 200, headers: {}, body: new Uint8Array(), truncated: false, url: request.url, ...answer };
      },
    },
  };
  const endpoint = { id: 'whk_1', orgId: 'org_1', url: 'https://hooks.example/', secretRef } as Endpoint;
  return { deps, endpoint, sent, fresh, old, owner, secretRef, secrets };
};

describe('an attempt', () => {
  it('sends the stored body, signed by every secret that counts, with the custom headers behind its own', async () => {
    const { deps, endpoint, sent, fresh, old } = await world({ status: 202, body: new TextEncoder().encode('thanks') });
    const outcome = await attempt(deps, await prepare(deps, endpoint), delivery);
    expect(outcome).toEqual({ ok: true, gone: false, at: NOW, status: 202, excerpt: 'thanks' });
    const [request] = sent;
    expect(request).toMatchObject({ method: 'POST', url: endpoint.url, body: delivery.body, redirects: 'none' });
    expect(request?.timeoutMs).toBeLessThanOrEqual(15_000);
    expect(request?.maxBytes).toBeLessThanOrEqual(4_096);
    const seconds = NOW / 1000;
    expect(request?.headers).toMatchObject({
      'X-Key': 'hidden',
      'content-type': 'application/json',
      'webhook-id': delivery.deliveryId,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signatures([fresh, old], delivery.deliveryId, seconds, delivery.body),
    });
    expect(JSON.parse(delivery.body)).toEqual({
      id: 'eff_1',
      type: 'question.asked',
      createdAt: '2026-01-01T00:00:07.000Z',
      sequence: 3,
      data: { question: 'ä' },
    });
  });

  it.each([
    [199, false],
    [204, true],
    [299, true],
    [302, false],
    [404, false],
    [500, false],
  ])('that is answered %i is good: %s', async (status, ok) => {
    const { deps, endpoint } = await world({ status });
    expect(await attempt(deps, await prepare(deps, endpoint), delivery)).toMatchObject({ ok, status, gone: false });
  });

  it('that is answered 410 tells that the receiver is gone', async () => {
    const { deps, endpoint } = await world({ status: 410 });
    expect(await attempt(deps, await prepare(deps, endpoint), delivery)).toMatchObject({ ok: false, gone: true });
  });

  it('to an address that may not be used any more sends nothing', async () => {
    const { deps, endpoint, sent } = await world({}, () => 'The URL begins with http:.');
    const outcome = await attempt(deps, await prepare(deps, endpoint), delivery);
    expect(outcome).toMatchObject({ ok: false, error: 'The URL begins with http:.' });
    expect(sent).toEqual([]);
  });

  it('that fails on the way is a failure with its reason, cut', async () => {
    const { deps, endpoint } = await world(new Error('x'.repeat(9_000)));
    const outcome = await attempt(deps, await prepare(deps, endpoint), delivery);
    expect(outcome).not.toHaveProperty('status');
    expect(outcome.error).toHaveLength(500);
  });

  it('is not made with secrets that were replaced, and what is damaged is not quoted', async () => {
    const { deps, endpoint, secrets, owner, secretRef } = await world({});
    await secrets.put(`org/org_1/webhook/whk_1/${secretRef}`, '{"v":1,"secrets":"whsec_hidden"}');
    await expect(prepare(deps, endpoint)).rejects.toThrow(/^(?!.*hidden)/);
    await deleteDocument(secrets, owner, secretRef);
    await expect(prepare(deps, endpoint)).rejects.toThrow('replaced meanwhile');
  });
});
