import { Agent, type Dispatcher, request as send } from 'undici';
import { EgressRefused } from '../tools/egress-refused.ts';
import type { GuardedFetch } from '../tools/tool.ts';
import { makeAddressRules } from './address-rules.ts';
import { checkUrl } from './check-url.ts';
import { type Lookup, lookupAll, makePinnedConnector } from './pinned-connector.ts';
import { ACCEPT_ENCODING, readBody } from './read-body.ts';
import { followRedirect, type Hop, redirectTarget } from './redirect.ts';

const MAX_REDIRECTS = 5;

/** Set by this client or by the connection; a caller's own would break the framing or the virtual host. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding', 'connection', 'content-length', 'expect', 'host', 'keep-alive', 'proxy-authorization',
  'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade',
]); // biome-ignore format: one list reads better than twelve lines

export interface GuardedFetchOptions {
  /** `host:port` entries that may be reached although they are private (`EGRESS_ALLOW`). */
  readonly allow: readonly string[];
  /** Resolver; the system's if left out. */
  readonly lookup?: Lookup;
  /** `host:port` entries that stay closed whatever the allow list says; the sandbox's Runtime API if left out. */
  readonly never?: readonly string[];
}

/**
 * HTTP to addresses that a model or a tenant named: public internet only, pinned DNS, redirects judged one by one.
 * @throws Error when an entry of a list is not `host:port`
 */
export const makeGuardedFetch = (options: GuardedFetchOptions): GuardedFetch => {
  const never = options.never ?? [process.env.AWS_LAMBDA_RUNTIME_API ?? ''];
  const rules = makeAddressRules(options.allow, never);
  const agent = new Agent({
    connect: makePinnedConnector(rules, options.lookup ?? lookupAll),
    // No keep-alive: every request is resolved and judged anew, and no idle socket outlives a frozen sandbox.
    pipelining: 0,
    // The caller's own limit covers these two.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    async fetch(request) {
      const timeout = AbortSignal.timeout(request.timeoutMs);
      const signal = AbortSignal.any([request.signal, timeout]);
      let hop: Hop = {
        method: request.method.toUpperCase(),
        url: checkUrl(request.url, rules),
        headers: callerHeaders(request.headers),
        body: request.body,
      };
      try {
        for (let redirects = 0; ; redirects++) {
          const response = await sendHop(hop, agent, signal);
          const headers = flatten(response.headers);
          const location =
            request.redirects === 'none' ? undefined : redirectTarget(response.statusCode, headers.location);
          if (location === undefined || !URL.canParse(location, hop.url.href)) {
            const encoding = hop.method === 'HEAD' ? '' : (headers['content-encoding'] ?? '');
            const read = await readBody(response.body, encoding, request.maxBytes);
            if (encoding !== '') {
              delete headers['content-encoding'];
              delete headers['content-length'];
            }
            return { status: response.statusCode, headers, ...read, url: hop.url.href };
          }
          response.body.on('error', () => undefined).destroy();
          if (redirects === MAX_REDIRECTS) throw new EgressRefused(`More than ${MAX_REDIRECTS} redirects.`);
          hop = followRedirect(hop, response.statusCode, checkUrl(new URL(location, hop.url).href, rules));
        }
      } catch (error) {
        throw explain(error, timeout.aborted && !request.signal.aborted, request.timeoutMs);
      }
    },
  };
};

const sendHop = (hop: Hop, dispatcher: Dispatcher, signal: AbortSignal): Promise<Dispatcher.ResponseData> =>
  send(hop.url, {
    dispatcher,
    signal,
    method: hop.method,
    headers: { 'user-agent': 'baton', ...hop.headers, 'accept-encoding': ACCEPT_ENCODING },
    ...(hop.body === undefined ? {} : { body: hop.body }),
  });

const callerHeaders = (headers: { readonly [name: string]: string }): Hop['headers'] =>
  Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]): [string, string] => [name.toLowerCase(), value])
      .filter(([name]) => !OWN_HEADERS.has(name)),
  );

const flatten = (headers: { [name: string]: string | string[] | undefined }): { [name: string]: string } => {
  const flat: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
};

/** The refusal inside whatever the client wrapped it in; a plain sentence for a time-out; else the error itself. */
const explain = (error: unknown, timedOut: boolean, timeoutMs: number): unknown => {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof EgressRefused) return at;
  if (!timedOut) return error;
  const late = new Error(`There was no complete answer within ${timeoutMs / 1000} seconds.`, { cause: error });
  late.name = 'TimeoutError';
  return late;
};
