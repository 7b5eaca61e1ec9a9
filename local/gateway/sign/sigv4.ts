import { timingSafeEqual } from 'node:crypto';
import { LOCAL } from '../../names.ts';
import { headerOf, queryOf, type WireRequest } from '../aws-request.ts';
import { AuthenticationError } from './authentication-error.ts';
import { canonicalRequest, hmac, type SigningKeys, sha256Hex } from './canonical.ts';
import { checkTimes } from './times.ts';

export interface KeyPair {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** What a verified signature says; the last four are the seed for the chunks of a streamed body. */
export interface Signed<K extends KeyPair> {
  readonly principal: K;
  /** From the credential scope. */
  readonly service: string;
  /** `x-amz-security-token`, if any: tells the processes of one role apart. */
  readonly sessionToken: string | undefined;
  readonly payloadHash: string;
  readonly signature: string;
  readonly signingKey: Buffer;
  readonly amzDate: string;
  readonly scope: string;
}

interface Claim {
  readonly presigned: boolean;
  readonly credential: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly amzDate: string;
  readonly expires: number | undefined;
}

/**
 * Verifies an AWS Signature Version 4, in the `Authorization` header or presigned in the query.
 * @param find the key pair of an access key id
 * @param now milliseconds since the epoch
 * @throws AuthenticationError
 */
export function verifySignature<K extends KeyPair>(
  request: WireRequest,
  find: (accessKeyId: string) => K | undefined,
  keys: SigningKeys,
  now: number,
): Signed<K> {
  const claim = readClaim(request);
  const [accessKeyId = '', date = '', region = '', service = '', terminator = '', ...rest] =
    claim.credential.split('/');
  if (terminator !== 'aws4_request' || rest.length > 0) {
    throw new AuthenticationError(
      'incomplete',
      'Credential must have five parts: key/date/region/service/aws4_request.',
    );
  }
  const principal = find(accessKeyId);
  if (principal === undefined) {
    throw new AuthenticationError('unknownKey', 'The security token included in the request is invalid.');
  }
  if (region !== LOCAL.region) {
    throw new AuthenticationError(
      'wrongScope',
      `Credential should be scoped to a valid region, not '${region}': this cloud is '${LOCAL.region}'.`,
    );
  }
  if (!claim.amzDate.startsWith(date)) {
    throw new AuthenticationError(
      'wrongScope',
      `Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '${date}' != '${claim.amzDate.slice(0, 8)}'.`,
    );
  }
  checkTimes(claim, now);
  checkSignedHeaders(request, claim);
  const payloadHash = payloadHashOf(request, claim, service);
  const scope = `${date}/${region}/${service}/aws4_request`;
  const canonical = canonicalRequest(request, {
    s3: service === 's3',
    signedHeaders: claim.signedHeaders,
    payloadHash,
  });
  const signingKey = keys.get(principal.secretAccessKey, date, region, service);
  const expected = hmac(signingKey, `AWS4-HMAC-SHA256\n${claim.amzDate}\n${scope}\n${sha256Hex(canonical)}`);
  const given = Buffer.from(claim.signature, 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new AuthenticationError(
      'badSignature',
      'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.',
    );
  }
  const sessionToken = headerOf(request.headers, 'x-amz-security-token') ?? queryOf(request, 'X-Amz-Security-Token');
  const { signature, amzDate } = claim;
  return { principal, service, sessionToken, payloadHash, signature, signingKey, amzDate, scope };
}

const AUTHORIZATION = /^AWS4-HMAC-SHA256 +Credential=([^,\s]+), *SignedHeaders=([^,\s]+), *Signature=([0-9a-f]+)$/;

function readClaim(request: WireRequest): Claim {
  const header = headerOf(request.headers, 'authorization');
  if (header !== undefined) {
    const match = AUTHORIZATION.exec(header);
    const amzDate = headerOf(request.headers, 'x-amz-date');
    if (match === null || amzDate === undefined) {
      throw new AuthenticationError(
        'incomplete',
        "Authorization header must be 'AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…' and come with 'X-Amz-Date'.",
      );
    }
    const [, credential = '', headers = '', signature = ''] = match;
    return { presigned: false, credential, signedHeaders: headers.split(';'), signature, amzDate, expires: undefined };
  }
  if (queryOf(request, 'X-Amz-Algorithm') === undefined) {
    throw new AuthenticationError('missing', 'Missing Authentication Token');
  }
  const get = (name: string): string => {
    const value = queryOf(request, name);
    if (value === undefined) {
      throw new AuthenticationError('incomplete', `A presigned URL needs the query parameter '${name}'.`);
    }
    return value;
  };
  if (get('X-Amz-Algorithm') !== 'AWS4-HMAC-SHA256') {
    throw new AuthenticationError('incomplete', "X-Amz-Algorithm only supports 'AWS4-HMAC-SHA256'.");
  }
  return {
    presigned: true,
    credential: get('X-Amz-Credential'),
    signedHeaders: get('X-Amz-SignedHeaders').split(';'),
    signature: get('X-Amz-Signature'),
    amzDate: get('X-Amz-Date'),
    expires: Number(get('X-Amz-Expires')),
  };
}

/** `Host` and every `x-amz-*` header must be under the signature, or an attacker could add one on the way. */
function checkSignedHeaders(request: WireRequest, claim: Claim): void {
  const signed = new Set(claim.signedHeaders);
  if (!signed.has('host')) {
    throw new AuthenticationError('unsignedHeaders', "'Host' must be a 'SignedHeader' in the signature.");
  }
  for (const name of Object.keys(request.headers)) {
    if (name.startsWith('x-amz-') && !signed.has(name)) {
      throw new AuthenticationError(
        'unsignedHeaders',
        `There were headers present in the request which were not signed: '${name}'.`,
      );
    }
  }
}

function payloadHashOf(request: WireRequest, claim: Claim, service: string): string {
  const named = headerOf(request.headers, 'x-amz-content-sha256') ?? queryOf(request, 'X-Amz-Content-Sha256');
  if (named === undefined) {
    return service === 's3' && claim.presigned ? 'UNSIGNED-PAYLOAD' : sha256Hex(request.body);
  }
  if (service === 's3' && (named === 'UNSIGNED-PAYLOAD' || named.startsWith('STREAMING-'))) return named;
  if (named !== sha256Hex(request.body)) {
    throw new AuthenticationError(
      'payloadHash',
      "The provided 'x-amz-content-sha256' header does not match what was computed.",
    );
  }
  return named;
}
