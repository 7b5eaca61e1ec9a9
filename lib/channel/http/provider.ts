/** Answers of generic sources: signed requests to the `replyUrl` that a person entered. */
import { createHmac } from 'node:crypto';
import * as z from 'zod';
import { type Provider, ProviderError, type ProviderOf } from '../../router/channel.ts';
import { EgressRefused } from '../../tools/egress-refused.ts';
import type { GuardedFetch } from '../../tools/tool.ts';

export interface HttpProviderDeps {
  readonly fetch: GuardedFetch;
  readonly clock: { now(): number };
}

const TIMEOUT_MS = 10_000;
const MOST_BYTES = 16_384;

/** What the receiver may say about a comment of ours; it may say nothing at all. */
const answerSchema = z.object({
  id: z.union([z.string().min(1).max(200), z.number()]).optional(),
  url: z.url().max(2_000).optional(),
});

const answerOf = (body: Uint8Array): z.infer<typeof answerSchema> => {
  try {
    const parsed = answerSchema.safeParse(JSON.parse(new TextDecoder().decode(body)));
    return parsed.success ? parsed.data : {};
  } catch {
    return {};
  }
};

const kindOf = (status: number): ProviderError['kind'] => {
  if (status === 401) return 'unauthorized';
  if (status === 404 || status === 410) return 'gone';
  if (status === 429 || status === 503) return 'busy';
  return status >= 500 || status === 408 ? 'unknown' : 'refused';
};

const LONGEST_WAIT_SECONDS = 86_400;
const retryAfter = (value: string | undefined): { readonly retryAfterMs?: number } =>
  value !== undefined && /^\d{1,6}$/.test(value)
    ? { retryAfterMs: Math.min(LONGEST_WAIT_SECONDS, Number(value)) * 1000 }
    : {};

/**
 * The body is `{type, id, thread, root?, text}`, signed like what comes in: `X-Baton-Signature: sha256=<hex HMAC>` with the
 * first secret. `type` is `reply`, `edit` (`id` is the reply's, or what was answered to it) or `ping`. The `id` of a reply is
 * also its `Idempotency-Key`: a receiver must take two requests with the same one for one, because an answer can be lost.
 * There is nothing to read from such a source.
 */
export const makeHttpProvider =
  ({ fetch, clock }: HttpProviderDeps): ProviderOf =>
  (source, secrets, needs): Provider => {
    const send = async (message: { readonly [name: string]: string }, key?: string) => {
      const [secret] = secrets.signing;
      if (source.replyUrl === undefined) throw new ProviderError('refused', 'The source has no replyUrl.');
      if (secret === undefined) throw new ProviderError('unauthorized', 'The source has no secret to sign with.');
      if (needs.until !== undefined && clock.now() >= needs.until) {
        throw new ProviderError('down', 'There was no time left to begin a request.');
      }
      const body = JSON.stringify(message);
      const signature = createHmac('sha256', secret).update(body).digest('hex');
      let answer: Awaited<ReturnType<GuardedFetch['fetch']>>;
      try {
        answer = await fetch.fetch({
          method: 'POST',
          url: source.replyUrl,
          headers: {
            'content-type': 'application/json',
            'user-agent': 'baton',
            ...(key !== undefined && { 'idempotency-key': key }),
            'x-baton-signature': `sha256=${signature}`,
          },
          body,
          signal: new AbortController().signal,
          timeoutMs: TIMEOUT_MS,
          maxBytes: MOST_BYTES,
          redirects: 'none',
        });
      } catch (error) {
        if (error instanceof EgressRefused) throw new ProviderError('refused', error.message);
        const why = error instanceof Error ? error.message : String(error);
        throw new ProviderError('unknown', `The receiver did not answer: ${why.slice(0, 300)}`);
      }
      const { status } = answer;
      if (status >= 200 && status < 300) return answerOf(answer.body);
      const options = { status, ...retryAfter(answer.headers['retry-after']) };
      throw new ProviderError(kindOf(status), `The receiver answered ${status}; expected 2xx.`, options);
    };
    const place = (to: { readonly thread: string; readonly root?: string | undefined }) => ({
      thread: to.thread,
      ...(to.root !== undefined && { root: to.root }),
    });
    const nothing = async (): Promise<never> => {
      throw new ProviderError('refused', 'A source of kind http can do nothing but take replies.');
    };
    return {
      repeatsWithinMs: Number.POSITIVE_INFINITY,
      async post(to, text, key) {
        const { id, url } = await send({ type: 'reply', id: key, ...place(to), text }, key);
        return { id: id === undefined ? key : String(id), ...(url !== undefined && { url }) };
      },
      async edit(to, id, text) {
        // Without a key: it says what the text is, so a repeat changes nothing, and going back to an older text does.
        await send({ type: 'edit', id, ...place(to), text });
      },
      async check() {
        await send({ type: 'ping' });
        return {};
      },
      list: nothing,
      requestReview: nothing,
      get: nothing,
    };
  };
