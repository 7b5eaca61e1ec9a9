import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { AwsError } from '../aws-error.ts';
import { headerOf, type WireRequest } from '../aws-request.ts';
import { AuthenticationError } from './authentication-error.ts';
import { type ChunkSeed, decodeChunked } from './aws-chunked.ts';

/**
 * The S3 request with its framing taken off and its checksums verified; trailing checksums have become headers.
 * @throws AuthenticationError for a chunk that was changed, AwsError `BadDigest` for content that was
 */
export function plainBody(request: WireRequest, seed: ChunkSeed): WireRequest {
  if (!seed.payloadHash.startsWith('STREAMING-')) {
    verifyChecksums(request.body, { ...queriedChecksums(request), ...request.headers });
    return request;
  }
  const { body, trailers } = decodeChunked(request.body, seed);
  const headers = { ...request.headers };
  const announced = Number(headerOf(headers, 'x-amz-decoded-content-length'));
  if (announced !== body.length) {
    throw new AuthenticationError(
      'payloadHash',
      `x-amz-decoded-content-length says ${announced} bytes, the body has ${body.length}.`,
    );
  }
  const encoding = (headerOf(headers, 'content-encoding') ?? '').split(',').map((one) => one.trim());
  const rest = encoding.filter((one) => one !== '' && one !== 'aws-chunked').join(', ');
  for (const name of ['content-encoding', 'x-amz-decoded-content-length', 'x-amz-trailer', 'transfer-encoding'])
    delete headers[name];
  if (rest !== '') headers['content-encoding'] = rest;
  for (const [name, value] of trailers) headers[name] = value;
  verifyChecksums(body, headers);
  return { ...request, headers, body };
}

const hash = (algorithm: string) => (body: Buffer) => createHash(algorithm).update(body).digest('base64');

const CHECKSUMS: { readonly [header: string]: (body: Buffer) => string } = {
  'content-md5': hash('md5'),
  'x-amz-checksum-sha1': hash('sha1'),
  'x-amz-checksum-sha256': hash('sha256'),
  'x-amz-checksum-crc32': (body) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(crc32(body));
    return bytes.toString('base64');
  },
};

/**
 * Checksums that a presigned URL binds the body to. SDK clients put that of an empty body there unless they are told
 * `requestChecksumCalculation: 'WHEN_REQUIRED'`; S3 then refuses every other body, and so does this.
 */
function queriedChecksums({ method, query }: WireRequest): WireRequest['headers'] {
  if (method !== 'PUT') return {};
  const named = query.map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(named.filter(([name]) => name.startsWith('x-amz-checksum-')));
}

function verifyChecksums(body: Buffer, headers: WireRequest['headers']): void {
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'x-amz-checksum-crc32c' || name === 'x-amz-checksum-crc64nvme') {
      throw new AwsError(
        'NotImplemented',
        `The local object store cannot verify '${name}'; use CRC32, SHA1 or SHA256.`,
        { status: 501 },
      );
    }
    const compute = Object.hasOwn(CHECKSUMS, name) ? CHECKSUMS[name] : undefined;
    if (compute !== undefined && compute(body) !== value) {
      throw new AwsError('BadDigest', `The '${name}' you specified did not match the calculated checksum.`);
    }
  }
}
