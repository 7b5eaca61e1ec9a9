import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Verified } from '../router/channel.ts';

const PREFIX = 'sha256=';
const HEX = /^[0-9a-f]{64}$/i;

/**
 * `sha256=<hex HMAC-SHA256 of the bytes as they came>`, under any of the secrets. Every secret is tried, however early one
 * fits, so that the time it takes tells nothing.
 */
export const verifyHmac = (
  header: { readonly name: string; readonly value: string | undefined },
  body: Uint8Array,
  secrets: readonly string[],
): Verified => {
  const refuse = (code: string, message: string): Verified => ({ ok: false, code, message });
  if (secrets.length === 0) return refuse('no_secret', 'The source has no signing secret.');
  if (header.value === undefined) return refuse('signature_missing', `The header ${header.name} is missing.`);
  const hex = header.value.startsWith(PREFIX) ? header.value.slice(PREFIX.length) : '';
  if (!HEX.test(hex)) {
    return refuse('signature_malformed', `The header ${header.name} is not ${PREFIX} and 64 hexadecimal digits.`);
  }
  const given = Buffer.from(hex, 'hex');
  let fits = false;
  for (const secret of secrets) {
    if (timingSafeEqual(createHmac('sha256', secret).update(body).digest(), given)) fits = true;
  }
  return fits ? { ok: true } : refuse('signature_mismatch', 'No signing secret of the source makes this signature.');
};
