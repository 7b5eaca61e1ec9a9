import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
/** Standard Webhooks: 24 to 64 bytes of chance. */
const SECRET_BYTES = 32;

/** A signing secret as its owner is shown it: `whsec_` and base64. */
export const newSigningSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;

/**
 * The value of `webhook-signature` (Standard Webhooks): HMAC-SHA256 over id, seconds and the exact body, once for each secret
 * that counts, with a space between, so that a receiver may hold the old secret or the new one.
 * @param timestampSeconds also sent as `webhook-timestamp`; receivers refuse what is more than minutes off
 */
export const signatures = (secrets: readonly string[], id: string, timestampSeconds: number, body: string): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`;
    })
    .join(' ');
