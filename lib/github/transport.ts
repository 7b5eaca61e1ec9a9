import type { GuardedFetch } from '../tools/tool.ts';

/** One request; shorter than the rest of a sender's lease (`lib/router/outbox/timing.ts`). */
const TIMEOUT_MS = 15_000;
/** The largest file that GitHub gives in one answer is 1 MB, in base64; lists of a hundred long comments come near. */
const MOST_BYTES = 8_000_000;

type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** What octokit needs of a `fetch`, over the guarded one: the address of an Enterprise server comes from a tenant. */
export const makeFetch =
  (guarded: GuardedFetch): Fetch =>
  async (url, init) => {
    const answer = await guarded.fetch({
      method: init?.method ?? 'GET',
      url,
      headers: Object.fromEntries(new Headers(init?.headers)),
      ...(typeof init?.body === 'string' ? { body: init.body } : {}),
      signal: init?.signal ?? new AbortController().signal,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MOST_BYTES,
    });
    if (answer.truncated) throw new TooLarge(`The answer is larger than ${MOST_BYTES / 1_000_000} MB.`);
    const headers = new Headers({ ...answer.headers });
    // The body has been read and decompressed, so what describes its transport no longer holds.
    headers.delete('content-encoding');
    headers.delete('content-length');
    const empty = answer.status === 204 || answer.status === 205 || answer.status === 304;
    return new Response(empty ? null : Uint8Array.from(answer.body), { status: answer.status, headers });
  };

/** An answer that no repeat makes smaller. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}
