import type { Clock, Secrets } from '../kernel/ports.ts';
import type { GuardedFetch } from '../tools/tool.ts';
import type { Delivery } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import { getDocument, liveSecrets } from './secret-document.ts';
import { signatures } from './sign.ts';

/** A receiver has so long to answer; its answer should say that it has stored the event, not that it has worked it off. */
const TIMEOUT_MS = 10_000;
/** Of the answer's body; kept for people, nothing else reads it. */
const MOST_ANSWER_BYTES = 2_048;
const MOST_ERROR = 500; // characters
const GONE = 410;

export interface AttemptDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly secrets: Secrets;
  readonly fetch: GuardedFetch;
  /** Why an address may not be used, as a sentence; `undefined` when it may. Judged again at each attempt. */
  readonly judgeUrl: (url: string) => string | undefined;
}

/** What became of one request. */
export interface Outcome {
  readonly ok: boolean;
  readonly at: number;
  /** Missing when there was no answer at all. */
  readonly status?: number;
  readonly excerpt?: string;
  readonly error?: string;
  /** The receiver wants nothing any more. */
  readonly gone: boolean;
}

/** Headers that are ready to be sent. Reads the secrets, so that a store that is busy is no failure of the receiver. */
export const prepare = async (deps: AttemptDeps, endpoint: Endpoint): Promise<Prepared> => {
  const document = await getDocument(
    deps.secrets,
    { orgId: endpoint.orgId, webhookId: endpoint.id },
    endpoint.secretRef,
  );
  // Replaced since the row was read: the message comes back and reads the new row.
  if (document === undefined) throw new Error(`The secrets of ${endpoint.id} were replaced meanwhile.`);
  return { endpoint, secrets: (now) => liveSecrets(document, now), headers: document.headers };
};

export interface Prepared {
  readonly endpoint: Endpoint;
  readonly secrets: (now: number) => string[];
  readonly headers: { readonly [name: string]: string };
}

/** One request. A refused address, a time-out and an answer that is not 2xx are outcomes, not errors. */
export const attempt = async (deps: AttemptDeps, prepared: Prepared, delivery: Delivery): Promise<Outcome> => {
  const { endpoint, headers, secrets } = prepared;
  const failed = (error: string): Outcome => ({
    ok: false,
    gone: false,
    at: deps.clock.now(),
    error: error.slice(0, MOST_ERROR),
  });
  const refused = deps.judgeUrl(endpoint.url);
  if (refused !== undefined) return failed(refused);
  const now = deps.clock.now();
  const seconds = Math.floor(now / 1000);
  try {
    const answer = await deps.fetch.fetch({
      method: 'POST',
      url: endpoint.url,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'user-agent': 'baton-webhooks',
        'webhook-id': delivery.deliveryId,
        'webhook-timestamp': String(seconds),
        'webhook-signature': signatures(secrets(now), delivery.deliveryId, seconds, delivery.body),
      },
      body: delivery.body,
      signal: new AbortController().signal,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MOST_ANSWER_BYTES,
      redirects: 'none',
    });
    const { status } = answer;
    const ok = status >= 200 && status < 300;
    return {
      ok,
      gone: status === GONE,
      at: deps.clock.now(),
      status,
      excerpt: new TextDecoder().decode(answer.body).toWellFormed(),
      ...(!ok && { error: complaint(status) }),
    };
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
};

const complaint = (status: number): string =>
  status >= 300 && status < 400
    ? `The receiver answered ${status}. Redirects are not followed: set the webhook's url to the new address.`
    : `The receiver answered ${status}; expected 2xx.`;
