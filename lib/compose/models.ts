import { cachedSecrets } from '../aws/cached.ts';
import { ssm } from '../aws/clients.ts';
import { makeSecrets } from '../aws/secrets.ts';
import type { ResolvedModel } from '../execution/step/deps.ts';
import { priceOf } from '../model/prices.ts';
import { ENV } from '../names.ts';
import { makeModelClient } from '../openai/model-client.ts';
import { resolveModel } from '../tenancy/resolve-model.ts';
import { clock, env, log, once, table } from './core.ts';
import { guardedFetch } from './egress.ts';

export const secrets = once(() => cachedSecrets(makeSecrets({ client: ssm(), prefix: env(ENV.secretPrefix) }), clock));

export const modelClient = once(() => makeModelClient({ guarded: guardedFetch(), log }));

const RESOLVED_FOR_MS = 30_000;

/** Which model answers, remembered for half a minute: every step asks. */
export const models = once(() => {
  const remembered = new Map<string, { readonly until: number; readonly value: Promise<ResolvedModel | undefined> }>();
  const look = async (orgId: string, name: string | undefined): Promise<ResolvedModel | undefined> => {
    const found = await resolveModel({ table: table(), secrets: secrets() }, orgId, name);
    return found && { account: found.account, model: found.model, price: priceOf(found.model, found.overrides) };
  };
  return async (
    orgId: string,
    name: string | undefined,
    options: { readonly fresh?: boolean } = {},
  ): Promise<ResolvedModel | undefined> => {
    const key = `${orgId} ${name ?? ''}`;
    if (options.fresh === true) {
      secrets().forgetAll();
      remembered.delete(key);
    }
    const known = remembered.get(key);
    if (known !== undefined && known.until > clock.now()) return known.value;
    const value = look(orgId, name);
    if (remembered.size > 1_000) remembered.clear();
    remembered.set(key, { until: clock.now() + RESOLVED_FOR_MS, value });
    // A failed or empty answer is asked again.
    value.then((found) => found ?? remembered.delete(key)).catch(() => remembered.delete(key));
    return value;
  };
});
