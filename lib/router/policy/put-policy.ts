import { badRequest, conflict } from '../../kernel/errors.ts';
import { keys } from '../../kernel/keys.ts';
import { eq, missing, set, type Table, TransactionRefused, type Write } from '../../kernel/table.ts';
import type { Alongside } from '../../tenancy/alongside.ts';
import { checkPolicy } from './check-policy.ts';
import { standingVersion } from './load-policy.ts';
import type { Policy, VersionedPolicy } from './policy.ts';
import { headItem, MOST_VERSIONS, type PolicyVersion, versionItem } from './policy-row.ts';
import { sourcesOf } from './sources-of.ts';

/**
 * What tells running tickets of a change: rows for its transaction, and a wake-up after it whose loss a mark makes good.
 * The tickets' room stands above this one.
 */
export type NotifyPolicyChange = (change: {
  readonly orgId: string;
  readonly version: number;
  readonly at: number;
}) => { readonly writes: readonly Write[]; wake(): Promise<void> };

export interface PutPolicyDeps {
  readonly table: Table;
  /** Names of the tools there are. */
  readonly tools: readonly string[];
  readonly notifyPolicyChange?: NotifyPolicyChange | undefined;
}

export interface NewPolicy {
  readonly orgId: string;
  /** Id of the key that saves it. */
  readonly actor: string;
  readonly policy: Policy;
  /** The version that it was made from; it is refused when another one stands. */
  readonly basedOn?: number | undefined;
  readonly alongside?: Alongside<VersionedPolicy> | undefined;
}

/** Savers at the same moment take turns; each turn lets one through. */
const MOST_TURNS = 8;

/** @throws AppError 400 `invalid_policy` naming every field that does not fit */
export const demandFit = async (
  { table, tools }: Pick<PutPolicyDeps, 'table' | 'tools'>,
  orgId: string,
  policy: Policy,
): Promise<void> => {
  const errors = checkPolicy(policy, { sources: await sourcesOf(table, orgId), tools });
  const [first] = errors;
  if (first === undefined) return;
  const message = `The policy does not fit: ${first.field}: received ${first.received}, expected ${first.expected}.`;
  throw badRequest(message, errors, 'invalid_policy');
};

/**
 * Saves the next version of an organisation's policy: version, head and the notice to running tickets in one transaction,
 * with the head as its guard. Evals that run meanwhile are discarded by their own check of the head; mandates stay.
 *
 * A crash before the transaction leaves nothing; after it, the notice's own mark finds what was not woken.
 * @throws AppError 400 `invalid_policy`, 409 `policy_changed`, 409 `policy_busy`; TransactionRefused when only what is
 * `alongside` was refused
 */
export const putPolicy = async (deps: PutPolicyDeps, given: NewPolicy, nowMs: number): Promise<VersionedPolicy> => {
  const { orgId, policy, actor, basedOn } = given;
  await demandFit(deps, orgId, policy);
  const at = new Date(nowMs).toISOString();
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    const before = await standingVersion(deps.table, orgId);
    if (basedOn !== undefined && basedOn !== before) throw changed(basedOn, before);
    if (before >= MOST_VERSIONS) throw conflict('policy_full', `A policy has at most ${MOST_VERSIONS} versions.`);
    const version = before + 1;
    const own = writes(orgId, before, { version, policy, at, by: actor });
    const notice = deps.notifyPolicyChange?.({ orgId, version, at: nowMs });
    const saved: VersionedPolicy = { version, policy };
    try {
      await deps.table.transact([...own, ...(notice?.writes ?? []), ...(given.alongside?.(saved) ?? [])]);
    } catch (error) {
      const outrun = error instanceof TransactionRefused && error.refused.slice(0, own.length).includes(true);
      if (outrun) continue;
      throw error;
    }
    await notice?.wake();
    return saved;
  }
  throw conflict('policy_busy', 'The policy is being saved by others at this moment. Try again.');
};

const writes = (orgId: string, before: number, next: PolicyVersion): readonly Write[] => [
  before === 0
    ? { put: headItem(orgId, next.version), if: missing('pk') }
    : { update: keys.policy(orgId), changes: [set('version', next.version)], if: eq('version', before) },
  { put: versionItem(orgId, next), if: missing('pk') },
];

const changed = (basedOn: number, stands: number): Error =>
  conflict('policy_changed', `Version ${stands} of the policy stands, and the change was made from ${basedOn}.`, {
    version: stands,
  });
