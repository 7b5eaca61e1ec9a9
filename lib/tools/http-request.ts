import * as z from 'zod';
import { EgressRefused } from './egress-refused.ts';
import { describeResponse } from './http-response.ts';
import type { Effect, Tool, ToolConfig, ToolResult } from './tool.ts';

const TIMEOUT_SECONDS = 15;
const MAX_BYTES = 1_000_000;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Belong to the connection or to this runtime; a model may not set them. */
const REFUSED_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding', 'connection', 'content-length', 'expect', 'host', 'idempotency-key', 'keep-alive',
  'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade',
]); // biome-ignore format: one list reads better than twelve lines

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,8000}$/;

/** Checked apart from the schema's shape: patterns of names and values are not in the JSON Schema that every server takes. */
const headers = z.record(z.string(), z.string()).superRefine((all, context) => {
  for (const [name, value] of Object.entries(all)) {
    const problem = REFUSED_HEADERS.has(name.toLowerCase())
      ? 'no such header, because Baton or the connection sets it'
      : !HEADER_NAME.test(name)
        ? 'a header name of letters, digits and "-"'
        : !HEADER_VALUE.test(value)
          ? 'a header value on one line, without control characters'
          : undefined;
    if (problem !== undefined) context.addIssue({ code: 'custom', path: [name], message: problem });
  }
});

const schema = z.strictObject({
  method: z.enum(METHODS),
  url: z.string().min(1).max(8_192).describe('Absolute http or https URL of a host on the public internet.'),
  headers: headers.optional().describe('Header names and values.'),
  body: z.string().max(MAX_BYTES).optional().describe('Request body as text; not for GET and HEAD.'),
});

type Arguments = z.infer<typeof schema>;

const isHarmless = (method: Arguments['method']): boolean => method === 'GET' || method === 'HEAD';

/**
 * GET and HEAD change nothing by definition. Everything else carries the call's key, so a server that honours
 * `Idempotency-Key` does it once; where the configuration says that a server does not, it may run only once.
 */
const effectOf = (args: Arguments, config: ToolConfig): Effect => {
  if (isHarmless(args.method)) return 'none';
  const hosts = Array.isArray(config.httpUnsafeHosts) ? config.httpUnsafeHosts : [];
  return config.httpUnsafe === true || hosts.some((host) => namesHost(host, args.url)) ? 'unsafe' : 'idempotent';
};

/** An entry is a host, or a host with its port. */
const namesHost = (entry: unknown, url: string): boolean => {
  if (typeof entry !== 'string' || !URL.canParse(url)) return false;
  const { hostname, host } = new URL(url);
  const wanted = entry.trim().toLowerCase();
  return wanted === hostname.replace(/\.+$/, '') || wanted === host;
};

export const httpRequest: Tool<Arguments> = {
  name: 'http_request',
  description:
    'Sends one HTTP request to the public internet and gives the answer. Long answers are cut. ' +
    'An Idempotency-Key header is added, the same when the call has to be repeated.',
  schema,
  outside: true,
  effect: effectOf,
  timeoutSeconds: TIMEOUT_SECONDS + 5,
  async execute(args, context) {
    if (args.body !== undefined && isHarmless(args.method)) {
      return { ok: false, text: `A ${args.method} request takes no body. Leave it out or use another method.` };
    }
    try {
      const answer = await context.fetch.fetch({
        method: args.method,
        url: args.url,
        headers: { ...args.headers, 'idempotency-key': context.key },
        ...(args.body === undefined ? {} : { body: args.body }),
        signal: context.signal,
        timeoutMs: TIMEOUT_SECONDS * 1000,
        maxBytes: MAX_BYTES,
      });
      return { ok: answer.status < 400, text: describeResponse(answer, args.url) };
    } catch (error) {
      return failure(error, args.method, context.signal);
    }
  },
};

/** A refused address and a broken connection are answers for the model; an aborted step is not. */
const failure = (error: unknown, method: Arguments['method'], signal: AbortSignal): ToolResult => {
  if (error instanceof EgressRefused) return { ok: false, text: error.message };
  if (signal.aborted) throw error;
  if (!(error instanceof Error)) throw error;
  const cause = error.cause instanceof Error ? error.cause.message : '';
  const why = [error.message, cause].filter((text) => text !== '').join(': ');
  const doubt = isHarmless(method) ? '' : ' It may have reached the server all the same.';
  return { ok: false, text: `The request failed: ${why || error.name}.${doubt}` };
};
