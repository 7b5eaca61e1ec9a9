import { APIError } from 'openai';
import type { ModelRequest } from '../model/model.ts';
import { type TokenLimitField, tokenLimitField } from './wire.ts';

/** How far one server speaks the protocol: what it refused once is not sent to it again. */
export interface Dialect {
  readonly limitField: TokenLimitField;
  /** Knows `tool_choice: "required"`. */
  readonly toolChoice: boolean;
  /** Knows `response_format` with a JSON schema. */
  readonly responseSchema: boolean;
  /** Knows `maxItems` in it: OpenAI does, Azure's strict mode does not. */
  readonly maxItems: boolean;
}

export const dialectOf = (baseUrl: string): Dialect => ({
  limitField: tokenLimitField(baseUrl),
  toolChoice: true,
  responseSchema: true,
  maxItems: true,
});

/** A refused member is refused before anything is computed (400, by some 422): what follows is still one model call. */
const isRefusal = (error: unknown): error is APIError =>
  error instanceof APIError && (error.status === 400 || error.status === 422);

/**
 * The dialect to try next after a refusal. DeepSeek ("This response_format type is unavailable now"), older vLLM, llama.cpp
 * and gateways before them name the member that they do not know in as many ways as there are servers, or name none: so a
 * request that demanded more than plain chat is asked once without the demand.
 * @param otherwise the refusal has a reason of its own (the prompt is too long, no money, no such model)
 * @returns `undefined` when nothing is left to try
 */
export const simpler = (
  dialect: Dialect,
  request: ModelRequest,
  error: unknown,
  otherwise: boolean,
): Dialect | undefined => {
  if (!isRefusal(error) || otherwise) return undefined;
  const { limitField } = dialect;
  if (
    error.status === 400 &&
    refusesField(error, limitField) &&
    limitField === tokenLimitField(request.account.baseUrl)
  ) {
    return { ...dialect, limitField: limitField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens' };
  }
  if (request.responseSchema !== undefined && dialect.maxItems && error.message.includes('maxItems')) {
    return { ...dialect, maxItems: false };
  }
  if (request.responseSchema !== undefined && dialect.responseSchema) return { ...dialect, responseSchema: false };
  if (request.toolChoice !== undefined && dialect.toolChoice) return { ...dialect, toolChoice: false };
  return undefined;
};

const refusesField = (error: APIError, field: TokenLimitField): boolean =>
  /unsupported|not supported|unrecognized|unknown|not permitted|unexpected/i.test(error.message) &&
  (error.param === field || error.message.includes(field));
