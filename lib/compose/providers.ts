import { makeHttpProvider } from '../channel/http/provider.ts';
import { makeGithubProviders } from '../github/provider.ts';
import type { ProviderFor } from '../router/outbox/deps.ts';
import { getSourceSecrets } from '../router/source/secrets.ts';
import { clock, once } from './core.ts';
import { guardedFetch } from './egress.ts';
import { secrets } from './models.ts';

const github = once(() => makeGithubProviders({ guarded: guardedFetch(), clock }));
const http = once(() => makeHttpProvider({ fetch: guardedFetch(), clock }));

/** Asks a provider in a source's name. */
export const providerFor: ProviderFor = async (source, needs) => {
  const document = await getSourceSecrets(secrets(), source);
  // Whoever comes back reads the newer row.
  if (document === undefined) throw new Error(`The secrets of ${source.id} were replaced meanwhile.`);
  switch (source.kind) {
    case 'github':
      return github()(source, document, needs);
    case 'http':
      return http()(source, document, needs);
    default:
      throw new Error(`No adapter is wired for sources of kind ${source.kind}.`);
  }
};
