import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';
import type { Log } from '../kernel/ports.ts';
import type { ModelClient, ModelOutcome, ModelRequest } from '../model/model.ts';
import { EgressRefused } from '../tools/egress-refused.ts';
import type { GuardedFetch } from '../tools/tool.ts';
import { type Dialect, dialectOf, simpler } from './dialect.ts';
import { type ProviderFailure, toFailure } from './failure.ts';
import { redact } from './redact.ts';
import { toReply } from './reply.ts';
import { makeTenantFetch, makeTrustedFetch } from './transport.ts';
import { toWireBody } from './wire.ts';

export interface ModelClientOptions {
  /** For accounts that are not trusted: an address that a tenant entered. */
  readonly guarded: GuardedFetch;
  /** Outcomes without any text of a prompt, reply or key. */
  readonly log?: Log;
}

/** The adapter of the model port over Chat Completions: any server that speaks OpenAI's protocol. */
export const makeModelClient = (options: ModelClientOptions): ModelClient => {
  const trustedFetch = makeTrustedFetch();
  /** Accounts and models that speak another dialect; only a memory of this process, a cold one asks again. */
  const corrected = new Map<string, Dialect>();

  const call = async (request: ModelRequest, dialect: Dialect, signal: AbortSignal): Promise<unknown> => {
    const { account } = request;
    const client = new OpenAI({
      // A server of one's own may want no key at all; the package wants some text.
      apiKey: account.apiKey === '' ? 'none' : account.apiKey,
      baseURL: account.baseUrl,
      // Without these the package takes the operator's own from the environment and sends them to a tenant's provider.
      organization: null,
      project: null,
      adminAPIKey: null,
      logLevel: 'off',
      maxRetries: 0,
      // The deadline of `complete` ends both tries; the package's own limit must not come before it.
      timeout: request.timeoutMs + 1_000,
      fetch: account.trusted ? trustedFetch : makeTenantFetch(options.guarded, request.timeoutMs),
    });
    return client.chat.completions.create(toWireBody(request, dialect.limitField, dialect), { signal });
  };

  return {
    async complete(request) {
      if (request.signal.aborted) return { kind: 'aborted', billed: false };
      const unusable = unusableAccount(request);
      if (unusable !== undefined) return unusable;
      const deadline = AbortSignal.timeout(request.timeoutMs);
      const signal = AbortSignal.any([request.signal, deadline]);
      const known = `${request.account.baseUrl} ${request.model}`;
      const started = performance.now();
      let dialect = corrected.get(known) ?? dialectOf(request.account.baseUrl);
      let outcome: ModelOutcome | undefined;
      while (outcome === undefined) {
        try {
          outcome = judgeBody(await call(request, dialect, signal), request);
          if (dialect !== corrected.get(known)) corrected.set(known, dialect);
        } catch (error) {
          const failed = judgeError(error, request, deadline.aborted);
          const otherwise = failed.kind !== 'stop' || failed.code !== 'model_bad_request';
          const next = simpler(dialect, request, error, otherwise);
          if (next === undefined) outcome = failed;
          else dialect = next;
        }
      }
      options.log?.debug('Model call', {
        model: request.model,
        outcome: outcome.kind,
        ...('code' in outcome ? { code: outcome.code } : {}),
        ...(outcome.kind === 'reply' ? { finishReason: outcome.finishReason, usage: outcome.usage } : {}),
        ms: Math.round(performance.now() - started),
      });
      return outcome;
    },
  };
};

/** What no server could be asked with. Trying it would look like a broken connection, and be tried again for ever. */
const unusableAccount = ({ account }: ModelRequest): ModelOutcome | undefined => {
  const stop = (code: 'model_unauthorized' | 'model_bad_request', message: string): ModelOutcome => ({
    kind: 'stop',
    code,
    message,
  });
  if (/[^\x21-\x7e]/.test(account.apiKey)) {
    return stop('model_unauthorized', 'The key of the model account holds spaces or characters that cannot be sent.');
  }
  if (!URL.canParse(account.baseUrl) || !/^https?:/i.test(account.baseUrl)) {
    return stop('model_bad_request', 'The base URL of the model account is not an http or https URL.');
  }
  return undefined;
};

const failureOf = (status: number, error: unknown, message: string, headers: Headers | undefined): ProviderFailure => {
  const body = typeof error === 'object' && error !== null ? (error as { code?: unknown; type?: unknown }) : {};
  const code = [body.code, body.type].find((value) => typeof value === 'string' && value !== '');
  return { status, code: typeof code === 'string' ? code : '', message, headers };
};

/** A 200. Some servers send JSON under another content type, and OpenRouter sends errors under 200. */
const judgeBody = (body: unknown, request: ModelRequest): ModelOutcome => {
  const value = typeof body === 'string' ? parsed(body) : body;
  const reply = toReply(value, request);
  if (reply !== undefined) return reply;
  const { apiKey } = request.account;
  const error = typeof value === 'object' && value !== null && 'error' in value ? value.error : undefined;
  if (typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number') {
    const said = 'message' in error && typeof error.message === 'string' ? error.message : JSON.stringify(error);
    if (error.code >= 400 && error.code <= 599) {
      return toFailure(failureOf(error.code, error, said, undefined), apiKey, Date.now());
    }
  }
  const came = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return {
    kind: 'retry',
    code: 'model_unavailable',
    message: redact(`The model provider answered 200, but not with a completion: ${came || 'an empty body'}`, apiKey),
    // A page of a proxy costs nothing; a damaged answer of the provider itself may.
    billed: typeof value === 'object' && value !== null,
  };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Connections that never came about: the provider has seen nothing. */
const NOT_SENT = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT|SSL|TLS/;

const judgeError = (error: unknown, request: ModelRequest, timedOut: boolean): ModelOutcome => {
  const { apiKey } = request.account;
  if (request.signal.aborted) return { kind: 'aborted', billed: true };
  const refused = causes(error).find((cause) => cause instanceof EgressRefused);
  if (refused !== undefined) {
    const message = redact(`The model provider's address is not allowed: ${refused.message}`, apiKey);
    return { kind: 'stop', code: 'model_bad_request', message };
  }
  if (error instanceof APIError && !(error instanceof APIConnectionError) && typeof error.status === 'number') {
    // The package puts the status before the message; the outcome's own sentence has it already.
    const said = error.message.replace(new RegExp(`^${error.status} `), '').replace('status code (no body)', '');
    return toFailure(failureOf(error.status, error.error, said, error.headers), apiKey, Date.now());
  }
  const chain = causes(error);
  const why = chain.map((cause) => [codeOf(cause), cause.message].filter(Boolean).join(' ')).join(': ');
  if (error instanceof SyntaxError) {
    const message = redact(`The model provider answered 200 with broken JSON: ${error.message}`, apiKey);
    return { kind: 'retry', code: 'model_unavailable', message, billed: true };
  }
  const sent = !NOT_SENT.test(why);
  if (timedOut || error instanceof APIConnectionTimeoutError || chain.some(({ name }) => name === 'TimeoutError')) {
    const message = sent
      ? `The model did not answer within ${request.timeoutMs / 1000} seconds.`
      : 'The connection to the model provider was not made in time.';
    return { kind: 'retry', code: 'model_timeout', message, billed: sent };
  }
  return {
    kind: 'retry',
    code: 'model_unavailable',
    message: redact(`The connection to the model provider failed: ${why}`, apiKey),
    billed: sent,
  };
};

const causes = (error: unknown): Error[] => {
  const chain: Error[] = [];
  for (let at = error; at instanceof Error && chain.length < 6; at = at.cause) chain.push(at);
  return chain;
};

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : '');
