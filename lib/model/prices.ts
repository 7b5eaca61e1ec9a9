import type { ModelUsage } from './model.ts';

/** What a model costs, in US dollars per million tokens, and how much it reads at once. */
export interface ModelPrice {
  readonly inputUsdPerM: number;
  /** Input that the provider had in its prompt cache. */
  readonly cachedUsdPerM: number;
  readonly outputUsdPerM: number;
  /** Tokens of prompt and reply together that the model takes at most. */
  readonly contextTokens: number;
}

/** A model of a user's own provider entry: it stands above the table. Cached input is charged as input. */
export interface ModelOverride {
  readonly name: string;
  readonly contextTokens: number;
  readonly inputUsdPerM: number;
  readonly outputUsdPerM: number;
}

const price = (input: number, cached: number, output: number, contextTokens: number): ModelPrice => ({
  inputUsdPerM: input,
  cachedUsdPerM: cached,
  outputUsdPerM: output,
  contextTokens,
});

/**
 * Standard tier, short context, as collected on 2026-07-24 in litellm's `model_prices_and_context_window.json` from the
 * providers' own pages (developers.openai.com/api/docs/pricing, api-docs.deepseek.com/quick_start/pricing,
 * ai.google.dev/pricing). Prices change: an entry under `PUT /v1/providers/{name}` corrects them for its organisation.
 * A model that is not here has no known price, which an execution then says; it is never taken for another one.
 */
const TABLE: { readonly [model: string]: ModelPrice } = {
  'gpt-5.6': price(5, 0.5, 30, 1_050_000),
  'gpt-5.6-sol': price(5, 0.5, 30, 400_000),
  'gpt-5.6-terra': price(2.5, 0.25, 15, 400_000),
  'gpt-5.6-luna': price(1, 0.1, 6, 400_000),
  'gpt-5.5': price(5, 0.5, 30, 1_050_000),
  'gpt-5.4': price(2.5, 0.25, 15, 1_050_000),
  'gpt-5.4-mini': price(0.75, 0.075, 4.5, 400_000),
  'gpt-5.4-nano': price(0.2, 0.02, 1.25, 400_000),
  'gpt-5.2': price(1.75, 0.175, 14, 400_000),
  'gpt-5.1': price(1.25, 0.125, 10, 400_000),
  'gpt-5': price(1.25, 0.125, 10, 400_000),
  'gpt-5-mini': price(0.25, 0.025, 2, 400_000),
  'gpt-5-nano': price(0.05, 0.005, 0.4, 400_000),
  'gpt-4.1': price(2, 0.5, 8, 1_047_576),
  'gpt-4.1-mini': price(0.4, 0.1, 1.6, 1_047_576),
  'gpt-4.1-nano': price(0.1, 0.025, 0.4, 1_047_576),
  'gpt-4o': price(2.5, 1.25, 10, 128_000),
  'gpt-4o-mini': price(0.15, 0.075, 0.6, 128_000),
  o3: price(2, 0.5, 8, 200_000),
  'o3-mini': price(1.1, 0.55, 4.4, 200_000),
  'o4-mini': price(1.1, 0.275, 4.4, 200_000),
  'deepseek-v4-flash': price(0.14, 0.0028, 0.28, 1_000_000),
  'deepseek-v4-pro': price(0.435, 0.003625, 0.87, 1_000_000),
  'gemini-2.5-pro': price(1.25, 0.125, 10, 1_048_576),
  'gemini-2.5-flash': price(0.3, 0.03, 2.5, 1_048_576),
  'gemini-3-flash': price(0.5, 0.05, 3, 1_048_576),
  'claude-opus-5': price(5, 0.5, 25, 1_000_000),
  'claude-sonnet-4-6': price(3, 0.3, 15, 1_000_000),
  'claude-haiku-4-5': price(1, 0.1, 5, 200_000),
  // The stand-in model of the local cloud costs nothing, which is known and not merely unknown.
  'baton-rehearsal': price(0, 0, 0, 128_000),
};

/** A dated snapshot (`gpt-4o-2024-08-06`) costs what its family does: the providers price them together. */
const withoutDate = (model: string): string => model.replace(/-\d{4}-\d{2}-\d{2}$/, '');

/**
 * @param model name as it is sent to the provider
 * @param overrides models of the organisation's provider; they win
 * @returns `undefined` when nobody has told the price
 */
export const priceOf = (model: string, overrides: readonly ModelOverride[] = []): ModelPrice | undefined => {
  const own = overrides.find((entry) => entry.name === model);
  if (own !== undefined) return price(own.inputUsdPerM, own.inputUsdPerM, own.outputUsdPerM, own.contextTokens);
  const name = withoutDate(model);
  return Object.hasOwn(TABLE, name) ? TABLE[name] : undefined;
};

/** Whole micro-dollars, rounded up, with the noise of binary fractions (0.1 × 3) taken off before. */
const roundUp = (microUsd: number): number => Math.ceil(Number(microUsd.toFixed(6)));

/** Cost of a call in whole micro-dollars (USD per million tokens × tokens is micro-dollars), rounded up. */
export const costMicroUsd = (usage: ModelUsage, of: ModelPrice): number => {
  const cached = Math.min(usage.cached, usage.input);
  return roundUp(
    (usage.input - cached) * of.inputUsdPerM + cached * of.cachedUsdPerM + usage.output * of.outputUsdPerM,
  );
};

/** What a call can cost at most: nothing cached, the reply as long as it may be. Micro-dollars, rounded up. */
export const worstCaseMicroUsd = (inputTokens: number, maxReplyTokens: number, of: ModelPrice): number =>
  roundUp(inputTokens * of.inputUsdPerM + maxReplyTokens * of.outputUsdPerM);
