import type { ModelOutcome } from '../model/model.ts';
import { redact } from './redact.ts';
import { retryAfterMs } from './retry-after.ts';

/** What a provider answered instead of a completion. */
export interface ProviderFailure {
  readonly status: number;
  /** `code`, else `type`, of the error object; '' when there is none. */
  readonly code: string;
  /** What it said, not yet redacted. */
  readonly message: string;
  readonly headers: Headers | undefined;
}

/** OpenAI and DeepSeek: "maximum context length"; vLLM, llama.cpp, Gemini, Claude and others in their own words. */
const TOO_LONG =
  /maximum context length|context[ _](?:length|window|size)|too many tokens|prompt is too long|input (?:is )?too long|longer than the model|exceeds? the (?:maximum|available|model's)[^.]*(?:context|tokens)/i;
/** An account without money: no pause mends it (OpenAI sends it as 429, DeepSeek as 402). */
const NO_MONEY =
  /insufficient[_ ](?:quota|balance|credits?|funds)|billing_hard_limit|billing_not_active|exceeded your current quota/i;
const NO_MODEL = /model[_ ]?(?:not[_ ]found|does not exist|not exist)|(?:unknown|no such) model/i;

/**
 * Maps an HTTP failure to an outcome. Statuses that a later try can mend are `retry`; everything else stops the run with
 * what the provider said, because a loop over an error costs money and ends nowhere.
 */
export const toFailure = (failure: ProviderFailure, apiKey: string, nowMs: number): ModelOutcome => {
  const { status, code } = failure;
  const said = redact(failure.message, apiKey) || `HTTP ${status} without a message`;
  const stop = (what: Extract<ModelOutcome, { kind: 'stop' }>['code'], sentence: string): ModelOutcome => ({
    kind: 'stop',
    code: what,
    message: `${sentence} (HTTP ${status}): ${said}`,
  });
  const hint = `${code} ${failure.message}`;

  if (status === 402 || ((status === 429 || status === 400 || status === 403) && NO_MONEY.test(hint))) {
    return stop('model_quota_exhausted', "The model account's quota or balance is used up");
  }
  if (status === 429 || status === 408 || status === 409 || status === 425 || status >= 500) {
    const wait = retryAfterMs(failure.headers, nowMs);
    return {
      kind: 'retry',
      code: status === 429 ? 'model_rate_limited' : 'model_unavailable',
      message: `The model provider answered HTTP ${status}: ${said}`,
      ...(wait === undefined ? {} : { retryAfterMs: wait }),
      // A gateway's own time-out says nothing about the model behind it, which may have worked to the end.
      billed: status === 504,
    };
  }
  if (status === 401 || status === 403) return stop('model_unauthorized', 'The model provider refused the key');
  if (code === 'context_length_exceeded' || status === 413 || TOO_LONG.test(failure.message)) {
    return stop('context_length_exceeded', 'The prompt is longer than the model takes');
  }
  if (status === 404 || NO_MODEL.test(hint)) {
    return stop('model_not_found', 'The model provider knows no such model or address');
  }
  if (status >= 300 && status < 400) {
    const target = failure.headers?.get('location') ?? 'another address';
    return {
      kind: 'stop',
      code: 'model_bad_request',
      message: redact(`The model address redirects to ${target}; use that as the base URL (HTTP ${status}).`, apiKey),
    };
  }
  return stop('model_bad_request', 'The model provider refused the request');
};
