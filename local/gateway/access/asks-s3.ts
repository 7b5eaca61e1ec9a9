import { AwsError } from '../aws-error.ts';
import { type AwsRequest, decode, headerOf, queryOf, type WireRequest } from '../aws-request.ts';
import { bucketArn } from './arns.ts';
import type { Ask } from './policy.ts';

export interface S3Target {
  readonly bucket: string;
  /** Decoded; empty for the bucket itself. */
  readonly key: string;
}

/** Path style only: `/bucket/key`. */
export function s3Target(request: WireRequest): S3Target {
  const [, bucket = '', key = ''] = /^\/([^/]*)\/?(.*)$/s.exec(request.path) ?? [];
  return { bucket: decode(bucket), key: decode(key) };
}

/** Sub-resources and headers of operations that the object store does not have: `undefined` refuses them. */
const OBJECT_OPERATIONS: { readonly [method: string]: (has: (name: string) => boolean) => string | undefined } = {
  GET: (has) => (has('uploadId') ? 'ListParts' : has('attributes') ? 'GetObjectAttributes' : 'GetObject'),
  HEAD: () => 'HeadObject',
  PUT: (has) => (has('partNumber') ? 'UploadPart' : 'PutObject'),
  POST: (has) => (has('uploads') ? 'CreateMultipartUpload' : has('uploadId') ? 'CompleteMultipartUpload' : undefined),
  DELETE: (has) => (has('uploadId') ? 'AbortMultipartUpload' : 'DeleteObject'),
};

const BUCKET_OPERATIONS: { readonly [method: string]: (has: (name: string) => boolean) => string | undefined } = {
  GET: (has) => (has('lifecycle') ? 'GetBucketLifecycleConfiguration' : 'ListObjectsV2'),
  HEAD: () => 'HeadBucket',
  PUT: (has) => (has('lifecycle') ? 'PutBucketLifecycleConfiguration' : 'CreateBucket'),
  POST: (has) => (has('delete') ? 'DeleteObjects' : undefined),
  DELETE: (has) => (has('lifecycle') ? 'DeleteBucketLifecycle' : 'DeleteBucket'),
};

/** Sub-resources whose answer would be wrong without support for them. */
const UNSUPPORTED = [
  'acl',
  'cors',
  'encryption',
  'legal-hold',
  'location',
  'logging',
  'notification',
  'object-lock',
  'policy',
  'policyStatus',
  'publicAccessBlock',
  'renameObject',
  'replication',
  'restore',
  'retention',
  'select',
  'tagging',
  'torrent',
  'versioning',
  'versionId',
  'versions',
  'website',
  'ownershipControls',
  'accelerate',
  'requestPayment',
];

/** The operation of an S3 request, `undefined` for one that the local store does not have. */
export function s3Operation(request: WireRequest): string | undefined {
  const has = (name: string): boolean => queryOf(request, name) !== undefined;
  if (UNSUPPORTED.some(has)) return undefined;
  const { bucket, key } = s3Target(request);
  if (bucket === '') return request.method === 'GET' ? 'ListBuckets' : undefined;
  if (key === '') {
    if (request.method === 'GET' && has('uploads')) return undefined;
    return BUCKET_OPERATIONS[request.method]?.(has);
  }
  const operation = OBJECT_OPERATIONS[request.method]?.(has);
  if (operation === 'ListParts') return undefined;
  const copied = headerOf(request.headers, 'x-amz-copy-source') !== undefined;
  if (copied && operation === 'PutObject') return 'CopyObject';
  return copied && operation === 'UploadPart' ? 'UploadPartCopy' : operation;
}

/** Permissions whose name is not that of the operation. */
const ACTIONS: { readonly [operation: string]: string } = {
  ListBuckets: 'ListAllMyBuckets',
  ListObjectsV2: 'ListBucket',
  HeadBucket: 'ListBucket',
  GetBucketLifecycleConfiguration: 'GetLifecycleConfiguration',
  PutBucketLifecycleConfiguration: 'PutLifecycleConfiguration',
  DeleteBucketLifecycle: 'PutLifecycleConfiguration',
  HeadObject: 'GetObject',
  UploadPart: 'PutObject',
  CopyObject: 'PutObject',
  UploadPartCopy: 'PutObject',
  CreateMultipartUpload: 'PutObject',
  CompleteMultipartUpload: 'PutObject',
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-with-s3-policy-actions.html */
export function s3Asks(request: AwsRequest, base: ReadonlyMap<string, readonly string[]>): Ask[] {
  const { bucket, key } = s3Target(request);
  const { operation } = request;
  if (operation === 'ListBuckets') return [{ action: 's3:ListAllMyBuckets', resource: '*', context: base }];
  if (operation === 'DeleteObjects') {
    return keysToDelete(request.body).map((one) => ({
      action: 's3:DeleteObject',
      resource: bucketArn(bucket, one),
      context: base,
    }));
  }
  const context = new Map(base);
  for (const name of ['prefix', 'delimiter', 'max-keys']) {
    const value = queryOf(request, name);
    if (operation === 'ListObjectsV2' && value !== undefined) context.set(`s3:${name}`, [value]);
  }
  const action = `s3:${ACTIONS[operation] ?? operation}`;
  const asks: Ask[] = [{ action, resource: bucketArn(bucket, key === '' ? undefined : key), context }];
  if (operation === 'GetObjectAttributes') asks.push({ ...(asks[0] as Ask), action: 's3:GetObject' });
  const source = headerOf(request.headers, 'x-amz-copy-source');
  if (source !== undefined) {
    const [, from = '', what = ''] = /^\/?([^/]+)\/(.*)$/s.exec(decode(source)) ?? [];
    asks.push({ action: 's3:GetObject', resource: bucketArn(from, what), context: base });
  }
  return asks;
}

/**
 * The keys in a `DeleteObjects` body.
 * @throws AwsError when there is none, or one that cannot be read beyond doubt
 */
export function keysToDelete(body: Buffer): string[] {
  const text = body.toString('utf8');
  const keys = [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => unescapeXml(key));
  // Comments and CDATA could hide a key from one reader and not from another.
  if (keys.length === 0 || keys.length > 1000 || keys.includes('') || text.includes('<!')) {
    throw new AwsError(
      'MalformedXML',
      'The XML you provided was not well-formed or did not validate against our published schema.',
    );
  }
  return keys;
}

const unescapeXml = (text: string): string =>
  text
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/&#x([0-9a-fA-F]+);/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
