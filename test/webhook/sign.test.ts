import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { liveSecrets } from '../../lib/webhook/secret-document.ts';
import { newSigningSecret, signatures } from '../../lib/webhook/sign.ts';

const seconds = Math.floor(Date.now() / 1000);
const body = JSON.stringify({ id: 'eff_1', type: 'question.asked', text: 'Grüße, 世界 \u2028' });
const headersOf = (secrets: readonly string[]) => ({
  'webhook-id': 'dlv_1',
  'webhook-timestamp': String(seconds),
  'webhook-signature': signatures(secrets, 'dlv_1', seconds, body),
});

describe('signatures', () => {
  it('are those of the published library', () => {
    const secret = newSigningSecret();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(headersOf([secret])['webhook-signature']).toBe(
      new Webhook(secret).sign('dlv_1', new Date(seconds * 1000), body),
    );
    expect(new Webhook(secret).verify(body, headersOf([secret]))).toEqual(JSON.parse(body));
  });

  it('are two while a secret is replaced, and either secret verifies', () => {
    const [old, fresh, other] = [newSigningSecret(), newSigningSecret(), newSigningSecret()];
    const headers = headersOf([fresh, old]);
    expect(headers['webhook-signature'].split(' ')).toHaveLength(2);
    for (const secret of [old, fresh]) expect(new Webhook(secret).verify(body, headers)).toBeTruthy();
    expect(() => new Webhook(other).verify(body, headers)).toThrow();
    expect(() => new Webhook(fresh).verify(`${body} `, headers)).toThrow();
    expect(() => new Webhook(fresh).verify(body, { ...headers, 'webhook-id': 'dlv_2' })).toThrow();
  });

  it('leave a secret out when its day is over', () => {
    const document = { secrets: [{ secret: 'new' }, { secret: 'old', until: 1_000 }], headers: {} };
    expect(liveSecrets(document, 999)).toEqual(['new', 'old']);
    expect(liveSecrets(document, 1_000)).toEqual(['new']);
  });
});
