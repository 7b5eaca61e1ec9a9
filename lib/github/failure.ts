/** What GitHub said, or did not say, as the port's errors. Pure. */
import { RequestError } from '@octokit/request-error';
import { ProviderError } from '../router/channel.ts';
import { EgressRefused } from '../tools/egress-refused.ts';
import { TooLarge } from './transport.ts';

/** GitHub's own advice where a secondary limit comes without a time: "wait for at least one minute". */
const SECONDARY_MS = 60_000;
const MOST_MESSAGE = 500;

/** Errors of the time before a request has left: nothing was done. Names of Node's net, dns and tls, and of undici. */
const NEVER_LEFT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_HAS_EXPIRED|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|ERR_TLS_CERT_ALTNAME_INVALID)$/;

/** `token`: minting one for an installation. `write`: what must not happen twice. */
export type Doing = 'read' | 'write' | 'token';

type Headers = { readonly [name: string]: string | number | undefined };

export const toProviderError = (error: unknown, doing: Doing, now: number): ProviderError => {
  if (error instanceof ProviderError) return error;
  if (error instanceof RequestError && error.response !== undefined) {
    return ofAnswer(error.status, error.message, error.response.headers, doing, now);
  }
  return ofNoAnswer(error, doing);
};

const said = (message: string): string => message.slice(0, MOST_MESSAGE).toWellFormed();

const ofAnswer = (status: number, message: string, headers: Headers, doing: Doing, now: number): ProviderError => {
  const text = `GitHub answered ${status}: ${said(message)}`;
  const wait = waitOf(status, message, headers, now);
  if (wait !== undefined) return new ProviderError('busy', text, { status, retryAfterMs: wait });
  if (status === 401) return new ProviderError('unauthorized', text, { status });
  if (status === 403 && /suspended/i.test(message)) {
    return new ProviderError('refused', text, { status, code: 'suspended' });
  }
  if (status === 404 || status === 410) {
    const options = doing === 'token' ? { status, code: 'not_installed' } : { status };
    return new ProviderError('gone', text, options);
  }
  // A write that a gateway gave up on may have been carried out behind it.
  if (status >= 500) return new ProviderError(doing === 'write' ? 'unknown' : 'down', text, { status });
  return new ProviderError('refused', text, { status });
};

/** How long a limit asks to wait; `undefined` where the answer is about no limit. */
const waitOf = (status: number, message: string, headers: Headers, now: number): number | undefined => {
  if (status !== 403 && status !== 429) return undefined;
  const after = Number(headers['retry-after']);
  if (headers['retry-after'] !== undefined && Number.isFinite(after)) return Math.max(1, after) * 1000;
  const reset = Number(headers['x-ratelimit-reset']);
  if (String(headers['x-ratelimit-remaining']) === '0' && Number.isFinite(reset)) {
    return Math.max(1000, reset * 1000 - now + 1000);
  }
  return status === 429 || /secondary rate|abuse detection/i.test(message) ? SECONDARY_MS : undefined;
};

const ofNoAnswer = (error: unknown, doing: Doing): ProviderError => {
  const chain = causes(error);
  const refused = chain.find((each) => each instanceof EgressRefused || each instanceof TooLarge);
  if (refused !== undefined && doing !== 'write') return new ProviderError('refused', refused.message);
  if (refused instanceof EgressRefused) return new ProviderError('refused', refused.message);
  const why = said(chain.map(({ message }) => message).find((message) => message !== '') ?? 'no answer');
  const left = !chain.some((each) => NEVER_LEFT.test(String((each as { code?: unknown }).code)));
  return doing === 'write' && left
    ? new ProviderError('unknown', `GitHub did not answer: ${why}`)
    : new ProviderError('down', `GitHub was not reached: ${why}`);
};

const causes = (error: unknown): Error[] => {
  const found: Error[] = [];
  for (let at = error; at instanceof Error && found.length < 10; at = at.cause) found.push(at);
  return found;
};
