import type { Secrets } from '../kernel/ports.ts';
import type { Table } from '../kernel/table.ts';
import { priceOf } from '../model/prices.ts';
import { listProviders } from './providers.ts';
import { resolveModel } from './resolve-model.ts';

/** A model that an agent of this organisation can be given. */
export interface ListedModel {
  readonly name: string;
  /** Name of the organisation's account; `operator` for the account that the operator shares. */
  readonly provider: string;
  readonly contextTokens?: number | undefined;
  readonly inputUsdPerM?: number | undefined;
  readonly outputUsdPerM?: number | undefined;
  /** Used where an agent names none. */
  readonly default: boolean;
}

/**
 * The models of the organisation's own accounts, and the operator's. The operator's account takes other names as well;
 * which ones, only its server knows.
 */
export const listModels = async (
  deps: { readonly table: Table; readonly secrets: Secrets },
  orgId: string,
): Promise<readonly ListedModel[]> => {
  const [providers, usual] = await Promise.all([
    listProviders(deps.table, orgId),
    resolveModel(deps, orgId, undefined),
  ]);
  const own = providers.flatMap((provider) =>
    provider.models.map(
      (model, index): ListedModel => ({
        ...known(model.name),
        ...model,
        provider: provider.name,
        default: provider.default && index === 0,
      }),
    ),
  );
  if (usual?.account.trusted !== true) return own;
  return [...own, { name: usual.model, ...known(usual.model), provider: 'operator', default: true }];
};

/** What the price table says of a model; what the organisation states stands above it. */
const known = (name: string): Pick<ListedModel, 'contextTokens' | 'inputUsdPerM' | 'outputUsdPerM'> => {
  const price = priceOf(name);
  if (price === undefined) return {};
  const { contextTokens, inputUsdPerM, outputUsdPerM } = price;
  return { contextTokens, inputUsdPerM, outputUsdPerM };
};
