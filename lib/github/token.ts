/** Tokens of an installation: minted for one purpose, never used in the last minutes of their hour (router-bugs J75). */
import { createAppAuth } from '@octokit/auth-app';
import type { Octokit } from '@octokit/core';
import { ProviderError } from '../router/channel.ts';
import { toProviderError } from './failure.ts';
import { grantedOf, type Permissions } from './permissions.ts';

export interface AppAccount {
  readonly appId: string;
  readonly privateKey: string;
  readonly installationId: number;
}

export interface Token {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
}

/** Signs in as the app itself. @throws ProviderError `unauthorized` when the key cannot be used */
export const appJwt = async ({ appId, privateKey }: Pick<AppAccount, 'appId' | 'privateKey'>): Promise<string> => {
  try {
    const { token } = await createAppAuth({ appId, privateKey })({ type: 'app' });
    return token;
  } catch {
    // What the library says may quote the key.
    throw new ProviderError('unauthorized', 'The private key of the app cannot be used.');
  }
};

/**
 * Mints a token for these permissions on this one repository. The library's own minting is not used: it keeps tokens until
 * a minute before their end, and shares what is under way by the number of the installation alone, which two servers of
 * two tenants may both have.
 * @throws ProviderError
 */
export const mintToken = async (
  octokit: Octokit,
  account: AppAccount,
  wanted: { readonly permissions: Permissions; readonly repositoryId: string | undefined },
  now: () => number,
): Promise<Token> => {
  const headers = { authorization: `Bearer ${await appJwt(account)}` };
  const installation_id = account.installationId;
  const mint = async (permissions: Permissions): Promise<Token> => {
    const { data } = await octokit.request('POST /app/installations/{installation_id}/access_tokens', {
      installation_id,
      headers,
      permissions,
      ...(wanted.repositoryId !== undefined && { repository_ids: [Number(wanted.repositoryId)] }),
    });
    return { token: data.token, endsAt: Date.parse(data.expires_at) };
  };
  try {
    try {
      return await mint(wanted.permissions);
    } catch (error) {
      if ((error as { readonly status?: unknown }).status !== 422) throw error;
      // It was installed with fewer permissions, or the repository is not among those it was given.
      const { data } = await octokit.request('GET /app/installations/{installation_id}', { installation_id, headers });
      return await mint(grantedOf(wanted.permissions, data.permissions as { readonly [name: string]: unknown }));
    }
  } catch (error) {
    throw toProviderError(error, 'token', now());
  }
};
