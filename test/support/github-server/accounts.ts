/** Who asks: the app by a signed JWT, an installation by a token that we minted, a person by a token of theirs. */
import { createPublicKey, verify } from 'node:crypto';
import { exampleOf } from './openapi.ts';
import type { Repository } from './state.ts';

export interface Grant {
  readonly permissions: { readonly [name: string]: string };
  /** Missing: all of the installation. */
  readonly repositoryIds: readonly number[] | undefined;
  readonly expiresAt: number;
}

export interface Installation {
  readonly id: number;
  suspended: boolean;
  /** Removed: GitHub does not know it any more. */
  removed: boolean;
  permissions: { [name: string]: string };
}

export interface AppKey {
  readonly appId: string;
  readonly publicKey: string;
}

export type Caller =
  | { readonly as: 'app' }
  | { readonly as: 'installation' | 'person'; readonly grant: Grant }
  | { readonly as: 'nobody'; readonly why: string };

interface Claims {
  readonly iss?: unknown;
  readonly exp?: number;
  readonly iat?: number;
}

const decode = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));

export const makeAccounts = (
  app: AppKey | undefined,
  installation: Installation,
  personToken: string | undefined,
  now: () => number,
) => {
  const grants = new Map<string, Grant>();

  const isApp = (jwt: string): boolean => {
    const [head = '', claims = '', signature = ''] = jwt.split('.');
    if (app === undefined || signature === '') return false;
    const key = createPublicKey(app.publicKey);
    const signed = verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'));
    const { iss, exp = 0, iat = 0 } = decode(claims) as Claims;
    // Real time: the library signs with the machine's clock. Ten minutes is the longest that GitHub takes.
    const seconds = Date.now() / 1000;
    return signed && String(iss) === app.appId && exp > seconds && exp - iat <= 660 && iat <= seconds + 60;
  };

  return {
    grants,
    who(authorization: string | undefined): Caller {
      const token = /^(?:bearer|token) (\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
      if (token.split('.').length === 3) {
        return isApp(token) ? { as: 'app' } : { as: 'nobody', why: 'A JSON web token could not be decoded' };
      }
      const everything = {
        contents: 'write',
        issues: 'write',
        pull_requests: 'write',
        checks: 'write',
        statuses: 'write',
        metadata: 'read',
      };
      if (personToken !== undefined && token === personToken) {
        return {
          as: 'person',
          grant: { permissions: everything, repositoryIds: undefined, expiresAt: Number.POSITIVE_INFINITY },
        };
      }
      const grant = grants.get(token);
      return grant === undefined || grant.expiresAt <= now()
        ? { as: 'nobody', why: 'Bad credentials' }
        : { as: 'installation', grant };
    },

    /** @returns status and body, as GitHub answers */
    mint(
      body: { readonly permissions?: Grant['permissions']; readonly repository_ids?: readonly number[] },
      repositories: readonly Repository[],
    ) {
      if (installation.removed) return { status: 404, body: { message: 'Not Found' } };
      if (installation.suspended) return { status: 403, body: { message: 'This installation has been suspended' } };
      const rank = (access: string | undefined): number => ['read', 'write', 'admin'].indexOf(access ?? '') + 1;
      const wanted = body.permissions ?? installation.permissions;
      if (Object.entries(wanted).some(([name, access]) => rank(access) > rank(installation.permissions[name]))) {
        return { status: 422, body: { message: 'The permissions requested are not granted to this installation.' } };
      }
      if ((body.repository_ids ?? []).some((id) => !repositories.some((each) => each.id === id))) {
        return {
          status: 422,
          body: {
            message:
              'There is at least one repository that does not exist or is not accessible to the parent installation.',
          },
        };
      }
      const token = `ghs_${String(grants.size).padStart(8, '0')}`;
      const expiresAt = now() + 3_600_000;
      grants.set(token, { permissions: wanted, repositoryIds: body.repository_ids, expiresAt });
      const { repositories: _, ...example } = exampleOf(
        'POST /app/installations/{installation_id}/access_tokens',
        201,
      ) as { repositories?: unknown };
      return {
        status: 201,
        body: { ...example, token, expires_at: new Date(expiresAt).toISOString(), permissions: wanted },
      };
    },
  };
};

/** What each operation needs, any one of the alternatives; from GitHub's "permissions required for GitHub Apps". */
const NEEDS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(POST|PATCH) .*\/issues\//, ['issues:write', 'pull_requests:write']],
  [/^(POST|PATCH) .*\/pulls\//, ['pull_requests:write']],
  [/^GET .*\/contents\//, ['contents:read']],
  [/^GET .*\/commits\/.*\/pulls/, ['contents:read', 'pull_requests:read']],
  [/check-runs/, ['checks:read']],
  [/\/status$/, ['statuses:read']],
  [/^GET .*\/pulls\//, ['pull_requests:read']],
  [/^GET .*\/issues\//, ['issues:read', 'pull_requests:read']],
];

export const isAllowed = (operation: string, repositoryId: number | undefined, grant: Grant): boolean => {
  if (repositoryId !== undefined && grant.repositoryIds?.includes(repositoryId) === false) return false;
  const needs = NEEDS.find(([pattern]) => pattern.test(operation))?.[1] ?? [];
  const has = (need: string): boolean => {
    const [name = '', access] = need.split(':');
    const given = grant.permissions[name];
    return given === 'write' || given === access;
  };
  return needs.length === 0 || needs.some(has);
};
