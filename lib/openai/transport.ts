import { Agent, fetch as undiciFetch } from 'undici';
import type { GuardedFetch } from '../tools/tool.ts';

/** What the openai package needs of a fetch. */
export type ModelFetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** A completion is text; more than this is no completion. */
const MAX_REPLY_BYTES = 8_000_000;

/**
 * Plain HTTP for the operator's own endpoint. undici's default of 300 s for headers would end a long reply before the
 * request's own time-out does, so both are off here. A redirect is not followed: it would turn the POST into a GET.
 */
export const makeTrustedFetch = (): ModelFetch => {
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } });
  return async (url, init) => {
    const response = await undiciFetch(String(url), {
      method: init?.method ?? 'POST',
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: typeof init?.body === 'string' ? init.body : null,
      signal: init?.signal ?? null,
      redirect: 'manual',
      dispatcher,
    });
    const body = Buffer.from(await response.arrayBuffer());
    return toResponse(response.status, Object.fromEntries(response.headers), body);
  };
};

/** The rest describes the operator's machine, or comes from the operator's environment (`OPENAI_CUSTOM_HEADERS`). */
const TENANT_HEADERS: ReadonlySet<string> = new Set(['accept', 'authorization', 'content-type']);

/** The same over the guarded fetch, for an address that a tenant entered. */
export const makeTenantFetch = (guarded: GuardedFetch, timeoutMs: number): ModelFetch => {
  return async (url, init) => {
    const answer = await guarded.fetch({
      method: init?.method ?? 'POST',
      url: String(url),
      headers: Object.fromEntries([...new Headers(init?.headers)].filter(([name]) => TENANT_HEADERS.has(name))),
      ...(typeof init?.body === 'string' ? { body: init.body } : {}),
      signal: init?.signal ?? new AbortController().signal,
      timeoutMs,
      maxBytes: MAX_REPLY_BYTES,
    });
    if (answer.truncated) throw new Error(`The answer is larger than ${MAX_REPLY_BYTES / 1_000_000} MB.`);
    return toResponse(answer.status, answer.headers, answer.body);
  };
};

/** The body has been read and decompressed, so the headers that describe its transport no longer hold. */
const toResponse = (status: number, headers: { readonly [name: string]: string }, body: Uint8Array): Response => {
  const kept = new Headers({ ...headers });
  kept.delete('content-encoding');
  kept.delete('content-length');
  const empty = status === 204 || status === 205 || status === 304;
  return new Response(empty ? null : Uint8Array.from(body), { status, headers: kept });
};
