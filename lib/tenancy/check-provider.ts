import { badRequest, notFound } from '../kernel/errors.ts';
import type { Clock, Secrets } from '../kernel/ports.ts';
import type { Table } from '../kernel/table.ts';
import type { ModelAccount, ModelClient } from '../model/model.ts';
import { listProviders, providerSecret } from './providers.ts';

/** What one cheap call said of an account. */
export interface ProviderCheck {
  readonly ok: boolean;
  readonly model: string;
  /** How long the call took. */
  readonly milliseconds: number;
  /** Why it failed, as a run would say it: `model_unauthorized`, `model_not_found`, … */
  readonly code?: string;
  readonly message?: string;
}

interface Deps {
  readonly models: ModelClient;
  readonly clock: Clock;
}

/** Below the 29 s after which API Gateway gives up. */
const TIMEOUT_MS = 20_000;
/** Some servers refuse fewer than 16. Reasoning models may spend all of them on thoughts: an empty reply is a reply. */
const REPLY_TOKENS = 16;

/** One call of a few tokens. Whatever comes back as a reply shows that address, key and model fit together. */
export const checkAccount = async (
  { models, clock }: Deps,
  account: ModelAccount,
  model: string,
): Promise<ProviderCheck> => {
  const began = clock.now();
  const outcome = await models.complete({
    account,
    model,
    messages: [{ role: 'user', content: 'Answer with the word OK.' }],
    tools: [],
    maxReplyTokens: REPLY_TOKENS,
    timeoutMs: TIMEOUT_MS,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const told = { model, milliseconds: Math.max(0, clock.now() - began) };
  switch (outcome.kind) {
    case 'reply':
      return { ok: true, ...told };
    case 'aborted':
      return { ok: false, ...told, code: 'model_timeout', message: `No answer within ${TIMEOUT_MS / 1000} s.` };
    default:
      return { ok: false, ...told, code: outcome.code, message: outcome.message };
  }
};

/**
 * Tries a stored account.
 * @param model the first of the account without it
 * @throws AppError 404; 400 for a model that the account does not list
 */
export const checkProvider = async (
  deps: Deps & { readonly table: Table; readonly secrets: Secrets },
  orgId: string,
  name: string,
  model: string | undefined,
): Promise<ProviderCheck> => {
  const provider = (await listProviders(deps.table, orgId)).find((one) => one.name === name);
  if (provider === undefined) throw notFound('provider');
  const names = provider.models.map((one) => one.name);
  const chosen = model ?? names[0];
  if (chosen === undefined || !names.includes(chosen)) {
    const expected = `one of ${names.join(', ')}`;
    throw badRequest(`model: expected ${expected}.`, [{ field: 'model', received: `"${model}"`, expected }]);
  }
  const apiKey = provider.hasKey ? await deps.secrets.get(providerSecret(orgId, name)) : undefined;
  return checkAccount(deps, { baseUrl: provider.baseUrl, apiKey: apiKey ?? '', trusted: false }, chosen);
};

/** @throws AppError 400 `provider_check_failed` with what the provider said */
export const demandWorking = (check: ProviderCheck): void => {
  if (check.ok) return;
  const field =
    check.code === 'model_unauthorized' ? 'apiKey' : check.code === 'model_not_found' ? 'models' : 'baseUrl';
  const received = check.code ?? 'no reply';
  throw badRequest(
    `The account does not work, so nothing was stored: ${check.message ?? received}`,
    [{ field, received, expected: `an account that answers for ${check.model}` }],
    'provider_check_failed',
  );
};
