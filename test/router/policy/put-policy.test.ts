import { describe, expect, it } from 'vitest';
import { AppError, UnreadableRow } from '../../../lib/kernel/errors.ts';
import { keys } from '../../../lib/kernel/keys.ts';
import { missing, type Table, TransactionRefused } from '../../../lib/kernel/table.ts';
import { listPolicyVersions } from '../../../lib/router/policy/list-versions.ts';
import { loadPolicy, policyStands } from '../../../lib/router/policy/load-policy.ts';
import { NEW_POLICY, type Policy } from '../../../lib/router/policy/policy.ts';
import { type NotifyPolicyChange, putPolicy } from '../../../lib/router/policy/put-policy.ts';
import { makeRow } from '../../../lib/tenancy/row.ts';
import { makeMemoryLog } from '../../support/memory-log.ts';
import { makeMemoryTable } from '../../support/memory-table.ts';

const ORG = 'org_a';
const NOW = Date.UTC(2026, 10, 30);
const policy = (given: Partial<Policy> = {}): Policy => ({ ...NEW_POLICY, ...given });
const put = (table: Table, given: Partial<Policy> = {}, more: { basedOn?: number; orgId?: string } = {}) =>
  putPolicy({ table, tools: [] }, { orgId: ORG, actor: 'key_1', policy: policy(given), ...more }, NOW);

/** Counts reads, and lets a test step in before one of the transactions. */
const watched = (table: Table, before: (turn: number) => Promise<void> = async () => undefined) => {
  const seen = { reads: 0, transactions: 0 };
  const spy: Table = {
    ...table,
    get: (...args) => {
      seen.reads++;
      return table.get(...args);
    },
    transact: async (...args) => {
      await before(++seen.transactions);
      return table.transact(...args);
    },
  };
  return { spy, seen };
};

describe('the policy of an organisation', () => {
  it('is a new one before anybody has written one', async () => {
    const table = makeMemoryTable();
    expect(await loadPolicy(table, ORG)).toEqual({ version: 0, policy: NEW_POLICY });
    expect(NEW_POLICY).toMatchObject({ mode: 'observe', allow: [], admission: [] });
    await table.transact([policyStands(ORG, 0)]);
  });

  it('gets a version with each writing, and keeps those before', async () => {
    const table = makeMemoryTable();
    expect(await put(table, { mode: 'auto' })).toEqual({ version: 1, policy: policy({ mode: 'auto' }) });
    expect(await put(table, { mode: 'off' })).toMatchObject({ version: 2 });
    expect(await loadPolicy(table, ORG)).toEqual({ version: 2, policy: policy({ mode: 'off' }) });
    const listed = await listPolicyVersions({ table, log: makeMemoryLog() }, ORG, { limit: 10 });
    const at = new Date(NOW).toISOString();
    expect(listed.items).toEqual([
      { version: 2, policy: policy({ mode: 'off' }), at, by: 'key_1' },
      { version: 1, policy: policy({ mode: 'auto' }), at, by: 'key_1' },
    ]);
  });

  it('is its own', async () => {
    const table = makeMemoryTable();
    await put(table, { mode: 'auto' });
    expect(await loadPolicy(table, 'org_b')).toMatchObject({ version: 0 });
    await put(table, { mode: 'off' }, { orgId: 'org_b' });
    expect(await loadPolicy(table, ORG)).toMatchObject({ version: 1, policy: { mode: 'auto' } });
  });

  it('is read from its head each time, and from a version once', async () => {
    const table = makeMemoryTable();
    const { spy, seen } = watched(table);
    await put(table);
    await loadPolicy(spy, ORG);
    await loadPolicy(spy, ORG);
    expect(seen.reads).toBe(3);
    await put(table, { mode: 'auto' });
    expect(await loadPolicy(spy, ORG)).toMatchObject({ version: 2, policy: { mode: 'auto' } });
  });

  it('is not read by halves', async () => {
    const table = makeMemoryTable();
    await put(table);
    const key = keys.policyVersion(ORG, 1);
    for (const json of ['{', '{"mode":"auto"}', JSON.stringify({ ...NEW_POLICY, mode: 'always' })]) {
      await table.put(makeRow(key, { version: 1, json, at: new Date(NOW).toISOString(), by: 'k' }));
      await expect(loadPolicy(table, ORG)).rejects.toThrow(UnreadableRow);
    }
    await table.delete(key);
    await expect(loadPolicy(table, ORG)).rejects.toThrow(UnreadableRow);
    await table.put({ ...keys.policy(ORG), v: 2, version: 1 });
    await expect(loadPolicy(table, ORG)).rejects.toThrow(UnreadableRow);
  });
});

describe('I6: what was judged by an older policy is not committed', () => {
  it.each([0, 1, 2])('version %i', async (judgedBy) => {
    const table = makeMemoryTable();
    for (let version = 0; version < judgedBy; version++) await put(table);
    const commit = () =>
      table.transact([policyStands(ORG, judgedBy), { put: { pk: `x${judgedBy}`, sk: 'x' }, if: missing('pk') }]);
    await put(table, { mode: 'off' });
    await expect(commit()).rejects.toThrow(TransactionRefused);
    expect(await table.get({ pk: `x${judgedBy}`, sk: 'x' })).toBeUndefined();
  });
});

describe('writers at the same moment', () => {
  it('take turns, and each gets a version of its own', async () => {
    const table = makeMemoryTable();
    const saved = await Promise.all(Array.from({ length: 5 }, (_, i) => put(table, { maxWorkers: i + 1 })));
    expect(saved.map(({ version }) => version).toSorted()).toEqual([1, 2, 3, 4, 5]);
    const newest = saved.find(({ version }) => version === 5);
    expect(await loadPolicy(table, ORG)).toEqual(newest);
  });

  it('who was outrun begins again with what stands', async () => {
    const table = makeMemoryTable();
    const { spy, seen } = watched(table, async (turn) => void (turn === 1 && (await put(table, { maxWorkers: 9 }))));
    expect(await put(spy, { maxWorkers: 2 })).toMatchObject({ version: 2, policy: { maxWorkers: 2 } });
    expect(seen.transactions).toBe(2);
  });

  it('who started from another version is told, also in the middle', async () => {
    const table = makeMemoryTable();
    await put(table);
    await expect(put(table, {}, { basedOn: 0 })).rejects.toMatchObject({ status: 409, code: 'policy_changed' });
    expect(await put(table, {}, { basedOn: 1 })).toMatchObject({ version: 2 });
    const { spy } = watched(table, async (turn) => void (turn === 1 && (await put(table))));
    await expect(put(spy, {}, { basedOn: 2 })).rejects.toMatchObject({
      code: 'policy_changed',
      details: { version: 3 },
    });
  });

  it('who is outrun for ever is told', async () => {
    const table = makeMemoryTable();
    const { spy } = watched(table, async () => void (await put(table)));
    await expect(put(spy)).rejects.toMatchObject({ status: 409, code: 'policy_busy' });
  });

  it('a refusal of what stands alongside is its own', async () => {
    const table = makeMemoryTable();
    const taken = { put: { ...keys.policy(ORG), sk: 'TAKEN' }, if: missing('pk') };
    await table.transact([taken]);
    const saving = putPolicy(
      { table, tools: [] },
      { orgId: ORG, actor: 'k', policy: policy(), alongside: () => [taken] },
      NOW,
    );
    await expect(saving).rejects.toThrow(TransactionRefused);
    expect(await loadPolicy(table, ORG)).toMatchObject({ version: 0 });
  });
});

describe('the notice to running tickets', () => {
  const noticed =
    (calls: unknown[]): NotifyPolicyChange =>
    (change) => {
      const row = { pk: `NOTICE#${change.version}`, sk: 'x' };
      return { writes: [{ put: row }], wake: async () => void calls.push(change) };
    };

  it('is written in the transaction of the change and woken behind it, once', async () => {
    const table = makeMemoryTable();
    const woken: unknown[] = [];
    const { spy } = watched(table, async (turn) => void (turn === 1 && (await put(table))));
    const given = { orgId: ORG, actor: 'k', policy: policy() };
    await putPolicy({ table: spy, tools: [], notifyPolicyChange: noticed(woken) }, given, NOW);
    expect(woken).toEqual([{ orgId: ORG, version: 2, at: NOW }]);
    expect(await table.get({ pk: 'NOTICE#2', sk: 'x' })).toBeDefined();
    expect(await table.get({ pk: 'NOTICE#1', sk: 'x' })).toBeUndefined();
  });

  it('is not there when the change is not', async () => {
    const table = makeMemoryTable();
    const woken: unknown[] = [];
    const given = { orgId: ORG, actor: 'k', policy: policy(), basedOn: 4 };
    const saving = putPolicy({ table, tools: [], notifyPolicyChange: noticed(woken) }, given, NOW);
    await expect(saving).rejects.toThrow(AppError);
    expect([woken, table.dump()]).toEqual([[], []]);
  });
});
