import { timingSafeEqual } from 'node:crypto';
import { AuthenticationError } from './authentication-error.ts';
import { hmac, sha256Hex } from './canonical.ts';

/** Where the chain of chunk signatures starts: the verified signature of the request's head. */
export interface ChunkSeed {
  readonly payloadHash: string;
  readonly signature: string;
  readonly signingKey: Buffer;
  readonly amzDate: string;
  readonly scope: string;
}

const EMPTY_HASH = sha256Hex('');

/**
 * Takes S3's `aws-chunked` framing off a body and verifies each chunk's signature where the mode has one
 * (`STREAMING-AWS4-HMAC-SHA256-PAYLOAD[-TRAILER]`; `STREAMING-UNSIGNED-PAYLOAD-TRAILER` has none).
 * @returns the content and its trailing headers (checksums)
 * @throws AuthenticationError when the framing is broken or a signature does not hold
 */
export function decodeChunked(framed: Buffer, seed: ChunkSeed): { body: Buffer; trailers: Map<string, string> } {
  const signed = seed.payloadHash.startsWith('STREAMING-AWS4-HMAC-SHA256-PAYLOAD');
  if (!signed && seed.payloadHash !== 'STREAMING-UNSIGNED-PAYLOAD-TRAILER') {
    throw new AuthenticationError('payloadHash', `The payload mode '${seed.payloadHash}' is not supported.`);
  }
  let previous = seed.signature;
  const verify = (kind: string, given: string, ...hashes: string[]): void => {
    const text = [kind, seed.amzDate, seed.scope, previous, ...hashes].join('\n');
    const expected = hmac(seed.signingKey, text);
    const bytes = Buffer.from(given, 'hex');
    if (bytes.length !== expected.length || !timingSafeEqual(bytes, expected)) {
      throw new AuthenticationError('badSignature', 'The signature of a chunk does not match what was computed.');
    }
    previous = given;
  };
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const end = framed.indexOf('\r\n', at);
    const match =
      end < 0 ? null : /^([0-9a-fA-F]{1,8})(?:;chunk-signature=([0-9a-f]+))?$/.exec(framed.toString('latin1', at, end));
    const size = match === null ? Number.NaN : Number.parseInt(match[1] ?? '', 16);
    const start = end + 2;
    if (Number.isNaN(size) || start + size > framed.length) throw broken();
    const chunk = framed.subarray(start, start + size);
    if (signed) verify('AWS4-HMAC-SHA256-PAYLOAD', match?.[2] ?? '', EMPTY_HASH, sha256Hex(chunk));
    at = start;
    if (size === 0) break;
    parts.push(chunk);
    if (framed.toString('latin1', start + size, start + size + 2) !== '\r\n') throw broken();
    at = start + size + 2;
  }
  const trailers = readTrailers(framed.toString('latin1', at));
  if (seed.payloadHash === 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER') {
    const given = trailers.get('x-amz-trailer-signature') ?? '';
    trailers.delete('x-amz-trailer-signature');
    const text = [...trailers].map(([name, value]) => `${name}:${value}\n`).join('');
    verify('AWS4-HMAC-SHA256-TRAILER', given, sha256Hex(text));
  }
  return { body: Buffer.concat(parts), trailers };
}

function readTrailers(text: string): Map<string, string> {
  const trailers = new Map<string, string>();
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) trailers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return trailers;
}

const broken = (): AuthenticationError =>
  new AuthenticationError(
    'payloadHash',
    'The body is not valid aws-chunked encoding: a chunk is cut short or has no size.',
  );
