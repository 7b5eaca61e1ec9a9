import type { IncomingMessage, ServerResponse } from 'node:http';
import { AwsError } from './aws-error.ts';
import { type AwsResponse, parseQuery, type WireRequest } from './aws-request.ts';

/** Largest body taken, bytes: an object of 10 MB with its chunk framing. */
const MAX_BODY = 12 * 1024 * 1024;

/** The client went away. There is nobody to answer. */
export class Disconnected extends Error {
  override readonly name = 'Disconnected';
}

/** Reads a request whole. @throws Disconnected when the client resets, AwsError when the body is over the limit */
export async function readRequest(request: IncomingMessage): Promise<WireRequest> {
  const url = request.url ?? '/';
  const mark = url.indexOf('?');
  const body = await readBody(request);
  return {
    method: request.method ?? 'GET',
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? [] : parseQuery(url.slice(mark + 1)),
    headers: request.headers,
    body,
  };
}

function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let parts: Buffer[] = [];
    let size = 0;
    request.on('data', (part: Buffer) => {
      size += part.length;
      // The rest is read and dropped: a client that still sends would see a reset instead of the answer.
      if (size > MAX_BODY) parts = [];
      else parts.push(part);
    });
    request.on('end', () => {
      if (size > MAX_BODY) reject(tooLarge(size));
      else resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
    });
    request.on('error', () => reject(new Disconnected('reset')));
    // It comes after a whole body too, and an error that nobody gets costs its stack all the same.
    request.on('close', () => request.complete || reject(new Disconnected('closed')));
  });
}

const tooLarge = (size: number): AwsError =>
  new AwsError('EntityTooLarge', `The request has ${size} bytes; the local cloud takes ${MAX_BODY}.`, { status: 413 });

/** Writes an answer; to a client that has gone it is written nowhere. */
export function writeResponse(response: ServerResponse, answer: AwsResponse, method: string): void {
  if (response.destroyed) return;
  const { status, headers } = answer;
  // Bytes at once: a string would be counted, joined with the head and encoded again, which a page of a query feels.
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
  // A HEAD's length is that of the body it leaves out, which the store has set.
  const length = method === 'HEAD' ? {} : { 'content-length': String(body.length) };
  response.writeHead(status, { ...headers, ...length });
  response.end(method === 'HEAD' || status === 204 || status === 304 ? undefined : body);
}
