import { UnreadableRow } from '../../kernel/errors.ts';
import { keys } from '../../kernel/keys.ts';
import { eq, missing, type Table, type Write } from '../../kernel/table.ts';
import { NEW_POLICY, type VersionedPolicy } from './policy.ts';
import { readHead, readVersion } from './policy-row.ts';

/** A version never changes, so a process reads each once. Bounds the memory of one that serves many organisations. */
const MOST_REMEMBERED = 50;
const remembered = new WeakMap<Table, Map<string, VersionedPolicy>>();

const memoryOf = (table: Table): Map<string, VersionedPolicy> => {
  const known = remembered.get(table) ?? new Map<string, VersionedPolicy>();
  remembered.set(table, known);
  return known;
};

const remember = (memory: Map<string, VersionedPolicy>, key: string, policy: VersionedPolicy): void => {
  memory.set(key, policy);
  const oldest = memory.keys().next().value;
  if (memory.size > MOST_REMEMBERED && oldest !== undefined) memory.delete(oldest);
};

/** Version number of the policy that stands now; 0 when nobody has written one. Strongly read. @throws UnreadableRow */
export const standingVersion = async (table: Table, orgId: string): Promise<number> => {
  const head = await table.get(keys.policy(orgId), { consistent: true });
  return head === undefined ? 0 : readHead(head);
};

/**
 * The policy as it stands: one strongly consistent read of the head, and one of the version when this process has not seen
 * it yet. Version 0 is `NEW_POLICY`.
 * @throws UnreadableRow when a newer version of the code wrote it: nothing is judged by half a policy
 */
export const loadPolicy = async (table: Table, orgId: string): Promise<VersionedPolicy> => {
  const version = await standingVersion(table, orgId);
  if (version === 0) return { version, policy: NEW_POLICY };
  const memory = memoryOf(table);
  const name = `${orgId} ${version}`;
  const known = memory.get(name);
  if (known !== undefined) return known;
  const key = keys.policyVersion(orgId, version);
  const item = await table.get(key, { consistent: true });
  if (item === undefined) throw new UnreadableRow(key, 'the version that the head names is not there.');
  const { policy } = readVersion(item);
  const loaded = { version, policy };
  remember(memory, name, loaded);
  return loaded;
};

/** For a transaction: the policy that was judged by still stands (I6). */
export const policyStands = (orgId: string, version: number): Write => ({
  check: keys.policy(orgId),
  if: version === 0 ? missing('pk') : eq('version', version),
});
