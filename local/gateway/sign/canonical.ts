import { createHash, createHmac } from 'node:crypto';
import type { WireRequest } from '../aws-request.ts';

export const sha256Hex = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex');
export const hmac = (key: Buffer | string, data: string): Buffer => createHmac('sha256', key).update(data).digest();

/** RFC 3986 as SigV4 wants it: `encodeURIComponent` and the five characters it leaves alone. */
export const escapeUri = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * The canonical request of SigV4. S3 takes the path as sent; every other service escapes it once more.
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
 */
export function canonicalRequest(
  request: WireRequest,
  options: { readonly s3: boolean; readonly signedHeaders: readonly string[]; readonly payloadHash: string },
): string {
  const path = options.s3 ? request.path : escapeUri(request.path).replaceAll('%2F', '/');
  const headers = options.signedHeaders.map((name) => `${name}:${canonicalHeader(request, name)}\n`).join('');
  return [
    request.method,
    path === '' ? '/' : path,
    canonicalQuery(request.query),
    headers,
    options.signedHeaders.join(';'),
    options.payloadHash,
  ].join('\n');
}

function canonicalQuery(query: WireRequest['query']): string {
  if (query.length === 0) return '';
  const pairs: [string, string][] = [];
  for (const [name, value] of query) {
    if (name !== 'X-Amz-Signature') pairs.push([escapeUri(name), escapeUri(value)]);
  }
  const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  pairs.sort((a, b) => order(a[0], b[0]) || order(a[1], b[1]));
  return pairs.map(([name, value]) => `${name}=${value}`).join('&');
}

function canonicalHeader(request: WireRequest, name: string): string {
  const value = request.headers[name];
  const text = Array.isArray(value) ? value.join(',') : (value ?? '');
  return text.trim().replace(/\s+/g, ' ');
}

/** Signing keys by key, day, region and service: four HMACs saved on each call. */
export class SigningKeys {
  private readonly cache = new Map<string, Buffer>();

  get(secretAccessKey: string, date: string, region: string, service: string): Buffer {
    const id = `${secretAccessKey}\n${date}\n${region}\n${service}`;
    const cached = this.cache.get(id);
    if (cached !== undefined) return cached;
    const key = hmac(hmac(hmac(hmac(`AWS4${secretAccessKey}`, date), region), service), 'aws4_request');
    // A day's worth of functions and services is far below this; yesterday's keys go with the first overflow.
    if (this.cache.size >= 500) this.cache.clear();
    this.cache.set(id, key);
    return key;
  }
}
