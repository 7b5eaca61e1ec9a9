import type { ProviderOf } from '../router/channel.ts';

type Verb = Parameters<ProviderOf>[2]['verb'];
type Access = 'read' | 'write';
export type Permissions = { readonly [name: string]: Access };

const READ: Permissions = {
  metadata: 'read',
  contents: 'read',
  issues: 'read',
  pull_requests: 'read',
  checks: 'read',
  statuses: 'read',
};

/** GitHub lets comments on pull requests be written under either of the two; notes on lines under the second alone. */
const COMMENT: Permissions = { metadata: 'read', issues: 'write', pull_requests: 'write' };
const BRANCH: Permissions = { ...COMMENT, contents: 'write' };
/** A pull request is opened from a branch that is there, and a review is asked for or given. */
const PULL: Permissions = { ...COMMENT, contents: 'read' };

/** What a token for a verb may do, and nothing else. */
export const PERMISSIONS: { readonly [verb in Verb]: Permissions } = {
  read: READ,
  comment: COMMENT,
  branch: BRANCH,
  pr: PULL,
  review: PULL,
  'merge-guarded': BRANCH,
};

const RANK: { readonly [access: string]: number } = { read: 1, write: 2, admin: 3 };

/** The part of it that the installation has: GitHub refuses a token that asks for more. */
export const grantedOf = (wanted: Permissions, granted: { readonly [name: string]: unknown }): Permissions =>
  Object.fromEntries(
    Object.entries(wanted).flatMap(([name, access]): [string, Access][] => {
      const has = RANK[String(granted[name])] ?? 0;
      if (has === 0) return [];
      return [[name, has >= (RANK[access] ?? 0) ? access : 'read']];
    }),
  );
