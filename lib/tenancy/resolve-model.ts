import * as z from 'zod';
import { AppError } from '../kernel/errors.ts';
import type { Secrets } from '../kernel/ports.ts';
import type { Table } from '../kernel/table.ts';
import type { ModelAccount } from '../model/model.ts';
import type { ModelOverride } from '../model/prices.ts';
import { listProviders, type Provider, type ProviderModel, providerSecret } from './providers.ts';

/** Name of the operator's own account in the `Secrets` port: JSON `{baseUrl, apiKey, model}`. */
const OPERATOR_SECRET = 'model';

export interface ResolvedModel {
  readonly account: ModelAccount;
  readonly model: string;
  /** Prices the organisation states itself, for `priceOf`; empty where it states none. */
  readonly overrides: readonly ModelOverride[];
  /** What one call takes at most, where the organisation says so. */
  readonly contextTokens?: number;
}

const operatorSchema = z.object({ baseUrl: z.string().min(1), apiKey: z.string(), model: z.string().min(1) });

/**
 * Which account answers for a model: the organisation's own provider that lists it (or, without a name, the default
 * provider with its first model), else the operator's account.
 * @returns `undefined` when there is no account: `model_not_configured`
 * @throws AppError 500 when the operator's account is set and cannot be read
 */
export const resolveModel = async (
  deps: { readonly table: Table; readonly secrets: Secrets },
  orgId: string,
  modelName: string | undefined,
): Promise<ResolvedModel | undefined> => {
  const own = choose(await listProviders(deps.table, orgId), modelName);
  if (own !== undefined) return ofProvider(deps.secrets, orgId, own.provider, own.model);
  const text = await deps.secrets.get(OPERATOR_SECRET);
  if (text === undefined) return undefined;
  const { baseUrl, apiKey, model } = readOperator(text);
  return { account: { baseUrl, apiKey, trusted: true }, model: modelName ?? model, overrides: [] };
};

const choose = (providers: readonly Provider[], modelName: string | undefined) => {
  // The default provider speaks first when several list the same model.
  const inOrder = [...providers].sort((a, b) => Number(b.default) - Number(a.default));
  for (const provider of modelName === undefined ? inOrder.filter((one) => one.default) : inOrder) {
    const model = modelName === undefined ? provider.models[0] : provider.models.find(({ name }) => name === modelName);
    if (model !== undefined) return { provider, model };
  }
  return undefined;
};

const ofProvider = async (
  secrets: Secrets,
  orgId: string,
  provider: Provider,
  model: ProviderModel,
): Promise<ResolvedModel> => {
  const apiKey = provider.hasKey ? await secrets.get(providerSecret(orgId, provider.name)) : undefined;
  return {
    account: { baseUrl: provider.baseUrl, apiKey: apiKey ?? '', trusted: false },
    model: model.name,
    overrides: overridesOf(model),
    ...(model.contextTokens === undefined ? {} : { contextTokens: model.contextTokens }),
  };
};

/** Large models of today read at least this much; an organisation that knows better says so. */
const USUAL_CONTEXT_TOKENS = 128_000;

const overridesOf = ({ name, inputUsdPerM, outputUsdPerM, contextTokens }: ProviderModel): ModelOverride[] =>
  inputUsdPerM === undefined || outputUsdPerM === undefined
    ? []
    : [{ name, inputUsdPerM, outputUsdPerM, contextTokens: contextTokens ?? USUAL_CONTEXT_TOKENS }];

const readOperator = (text: string): z.output<typeof operatorSchema> => {
  try {
    return operatorSchema.parse(JSON.parse(text));
  } catch {
    // What the parser says is dropped: it may quote the secret.
    const why = "The operator's model account is not JSON {baseUrl, apiKey, model}.";
    throw new AppError(500, 'model_account_malformed', why);
  }
};
