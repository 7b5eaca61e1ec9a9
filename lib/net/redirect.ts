import { EgressRefused } from '../tools/egress-refused.ts';

/** One request of a chain of redirects. */
export interface Hop {
  readonly method: string;
  readonly url: URL;
  readonly headers: { readonly [name: string]: string };
  readonly body: string | Uint8Array | undefined;
}

const STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Where a response sends the client, if it does. */
export const redirectTarget = (status: number, location: string | undefined): string | undefined =>
  STATUSES.has(status) ? location : undefined;

/**
 * The next request after a redirect, by the rules of the Fetch standard, made stricter across origins: no header of the
 * caller goes along (any of them may be a credential), and a request that would have to be repeated with its method and
 * body at another origin is refused instead of being sent there or being changed into something else.
 *
 * @param target already checked
 * @throws EgressRefused
 */
export const followRedirect = (hop: Hop, status: number, target: URL): Hop => {
  const sameOrigin = target.origin === hop.url.origin;
  const becomesGet = (status === 303 && hop.method !== 'HEAD') || (status <= 302 && hop.method === 'POST');
  const method = becomesGet ? 'GET' : hop.method;
  if (!sameOrigin && method !== 'GET' && method !== 'HEAD') {
    throw new EgressRefused(
      `${hop.url.origin} redirects this ${hop.method} to ${target.origin}; a request with a body is not sent to another ` +
        'origin. Request that address directly if it is the right one.',
    );
  }
  const kept = becomesGet ? withoutContentHeaders(hop.headers) : hop.headers;
  return { method, url: target, headers: sameOrigin ? kept : {}, body: becomesGet ? undefined : hop.body };
};

const withoutContentHeaders = (headers: Hop['headers']): Hop['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('content-')));
