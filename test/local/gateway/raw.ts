import { createHash, createHmac, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import { LOCAL } from '../../../local/names.ts';

interface KeyPair {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The SHA-256 that `SignatureV4` takes: a hash with an optional HMAC key. */
class Sha256 {
  private readonly hash: Pick<Hmac, 'update' | 'digest'>;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.hash.update(bytesOf(data));
  }
  async digest(): Promise<Uint8Array> {
    return this.hash.digest();
  }
  reset(): void {
    throw new Error('A signature needs no reset.');
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(data);
}

export const sha256Hex = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
export const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();

const signer = (service: string, credentials: KeyPair, region: string): SignatureV4 =>
  new SignatureV4({
    service,
    region,
    credentials,
    sha256: Sha256,
    uriEscapePath: service !== 's3',
    applyChecksum: true,
  });

export interface RawCall {
  readonly method?: string;
  readonly path: string;
  readonly service: string;
  readonly headers?: { [name: string]: string };
  readonly query?: { [name: string]: string };
  readonly body?: string | Buffer;
  readonly at?: Date;
  readonly region?: string;
}

const headRequest = (url: string, call: RawCall) => {
  const { hostname, port, protocol } = new URL(url);
  return {
    protocol,
    hostname,
    port: Number(port),
    method: call.method ?? 'POST',
    path: call.path,
    query: call.query ?? {},
    headers: { host: `${hostname}:${port}`, ...call.headers },
    ...(call.body === undefined ? {} : { body: call.body }),
  };
};

/** Signs by AWS's own signer; answers what `fetch` takes. */
export async function signedRequest(
  url: string,
  credentials: KeyPair,
  call: RawCall,
): Promise<{ url: string; init: RequestInit }> {
  const signed = await signer(call.service, credentials, call.region ?? LOCAL.region).sign(headRequest(url, call), {
    signingDate: call.at ?? new Date(),
  });
  const query = new URLSearchParams(call.query).toString();
  const { host: _host, ...headers } = signed.headers;
  const init = { method: signed.method, headers, ...(call.body === undefined ? {} : { body: call.body }) };
  return { url: `${url}${call.path}${query === '' ? '' : `?${query}`}`, init };
}

/** A presigned URL by AWS's own signer. */
export async function presignedUrl(
  url: string,
  credentials: KeyPair,
  call: RawCall & { expiresIn: number },
): Promise<string> {
  const { body: _body, ...request } = headRequest(url, call);
  const signed = await signer(call.service, credentials, LOCAL.region).presign(
    { ...request, headers: { ...request.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } },
    { expiresIn: call.expiresIn, signingDate: call.at ?? new Date(), unhoistableHeaders: new Set() },
  );
  const query = Object.entries(signed.query ?? {}).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`,
  );
  return `${url}${call.path}?${query.join('&')}`;
}
