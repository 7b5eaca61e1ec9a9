import type { OutgoingHttpHeaders } from 'node:http';
import { keysToDelete, s3Target } from '../gateway/access/asks-s3.ts';
import { AwsError } from '../gateway/aws-error.ts';
import { type AwsRequest, type AwsResponse, headerOf, queryOf } from '../gateway/aws-request.ts';
import { openObjectApp } from './fauxqs-parts.ts';

/** Buckets and objects with S3's REST API. */
export interface Objects {
  /** @throws AwsError */
  handle(request: AwsRequest): Promise<AwsResponse>;
  /** Creates a bucket of the template; one that is there already stays as it is. */
  ensureBucket(name: string): void;
  close(): Promise<void>;
}

/** Operations that write. A condition on them must hold or be refused, never be passed over. */
const WRITES = new Set([
  'PutObject',
  'CopyObject',
  'DeleteObject',
  'DeleteObjects',
  'CompleteMultipartUpload',
  'UploadPart',
]);
const CONDITIONS = [
  'if-match',
  'if-none-match',
  'x-amz-if-match-last-modified-time',
  'x-amz-if-match-size',
  'x-amz-copy-source-if-match',
  'x-amz-copy-source-if-none-match',
  'x-amz-copy-source-if-modified-since',
  'x-amz-copy-source-if-unmodified-since',
];

/** `response-*` parameters of a GET that set a header of the answer. */
const OVERRIDES = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
];

/** Headers between two hops, and those that the gateway's own server writes. */
const HOP_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date', 'host', 'expect']);

/** @param options.dataDir folder for the SQLite file; made when it is missing */
export async function createObjects(options: { dataDir: string }): Promise<Objects> {
  const { app, store, close } = await openObjectApp(options.dataDir);

  const forward = async (request: AwsRequest): Promise<AwsResponse> => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name, value]) => !HOP_HEADERS.has(name) && value !== undefined),
    ) as { [name: string]: string };
    const query = request.query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    const answer = await app.inject({
      method: request.method as 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE',
      url: query.length === 0 ? request.path : `${request.path}?${query.join('&')}`,
      headers: { ...headers, 'content-length': String(request.body.length), host: 'localhost' },
      payload: request.body,
    });
    return { status: answer.statusCode, headers: plainHeaders(answer.headers), body: answer.rawPayload };
  };

  return {
    async handle(request) {
      refuseConditions(request);
      if (request.operation === 'DeleteObjects') return deleteObjects(request, forward);
      const answer = await forward(request);
      return request.operation === 'GetObject' && answer.status < 300 ? overridden(request, answer) : answer;
    },
    ensureBucket(name) {
      store.createBucket(name);
    },
    close,
  };
}

/** The store behind would pass over a condition and overwrite: better no answer than that one. */
function refuseConditions(request: AwsRequest): void {
  if (!WRITES.has(request.operation)) return;
  const condition = CONDITIONS.find((name) => headerOf(request.headers, name) !== undefined);
  if (condition === undefined) return;
  throw new AwsError(
    'NotImplemented',
    `A header you provided implies functionality that is not implemented: '${condition}' on ${request.operation}. The local object store has no conditional writes.`,
    { status: 501 },
  );
}

/** One delete for each key, read by the same function as the permissions were, so that no key slips past them. */
async function deleteObjects(
  request: AwsRequest,
  forward: (request: AwsRequest) => Promise<AwsResponse>,
): Promise<AwsResponse> {
  const { bucket } = s3Target(request);
  const keys = keysToDelete(request.body);
  for (const key of keys) {
    const path = `/${encodeURIComponent(bucket)}/${key.split('/').map(encodeURIComponent).join('/')}`;
    const answer = await forward({ ...request, method: 'DELETE', path, query: [], body: Buffer.alloc(0), headers: {} });
    if (answer.status >= 300) return answer;
  }
  const quiet = /<Quiet>\s*true\s*<\/Quiet>/i.test(request.body.toString('utf8'));
  const deleted = quiet ? '' : keys.map((key) => `<Deleted><Key>${escapeXml(key)}</Key></Deleted>`).join('');
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${deleted}</DeleteResult>`;
  return { status: 200, headers: { 'content-type': 'application/xml' }, body };
}

const escapeXml = (text: string): string => text.replace(/[<>&"'\r\n]/g, (c) => `&#${c.charCodeAt(0)};`);

function overridden(request: AwsRequest, answer: AwsResponse): AwsResponse {
  const headers: { [name: string]: string } = { ...answer.headers };
  for (const name of OVERRIDES) {
    const value = queryOf(request, `response-${name}`);
    if (value !== undefined) headers[name] = value;
  }
  return { ...answer, headers };
}

function plainHeaders(headers: OutgoingHttpHeaders): { [name: string]: string } {
  const out: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !HOP_HEADERS.has(name))
      out[name] = Array.isArray(value) ? value.join(', ') : String(value);
  }
  return out;
}
