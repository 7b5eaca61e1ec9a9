import { beforeEach, describe, expect, test } from 'vitest';
import { attentionFloor } from '../../lib/attention/floor.ts';
import { pauseExecution, resumeExecution, terminateExecution } from '../../lib/execution/control.ts';
import { decidePermission, getPermission } from '../../lib/execution/decide.ts';
import { A, readExecution } from '../../lib/execution/execution.ts';
import { expireAsk } from '../../lib/execution/expire.ts';
import { listPermissions } from '../../lib/execution/list.ts';
import { markAt } from '../../lib/execution/mark.ts';
import { askItem } from '../../lib/execution/rows.ts';
import type { ExecutionDeps, StatusChange } from '../../lib/execution/step/deps.ts';
import { argumentsHash } from '../../lib/execution/step/permission.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { set } from '../../lib/kernel/table.ts';
import { makeMemoryLog } from '../support/memory-log.ts';
import { makeMemoryTable } from '../support/memory-table.ts';
import { at, executionIdOf, NOW, ORG, putExecution } from './support.ts';

const TTL = 60_000;
const ASK = `ask_${executionIdOf(0).slice(4)}_1_101`;
const CALL = { name: 'pay', arguments: '{}' };
const key = keys.ask(ORG, executionIdOf(0), 1, 101);

let now = NOW;
let table = makeMemoryTable();
let sent: unknown[] = [];
let told: StatusChange[] = [];
beforeEach(() => {
  now = NOW;
  table = makeMemoryTable(() => now);
  sent = [];
  told = [];
});

const deps = (): ExecutionDeps => ({
  table,
  steps: { send: async (message) => void sent.push(message), changeVisibility: async () => undefined },
  clock: { now: () => now, sleep: async () => undefined },
  log: makeMemoryLog(),
  metrics: { count() {} },
  upper: { ...attentionFloor, wake: async (change) => void told.push(change) },
});

/** A run that waits for one permission since NOW. */
const waiting = async (onExpiry: 'reject' | 'pause', more = {}): Promise<void> => {
  await putExecution(table, 0, [set(A.status, 'WAITING_FOR_PERMISSION'), set(A.since, NOW)]);
  const ask = {
    ...at(),
    askId: ASK,
    kind: 'permission' as const,
    seq: 1,
    n: 101,
    state: 'pending' as const,
    tool: CALL.name,
    arguments: CALL.arguments,
    argumentsHash: argumentsHash(CALL),
    why: '',
    expiresAt: NOW + TTL,
    onExpiry,
    ...markAt('tick', ASK, NOW + TTL),
    at: NOW,
    ...more,
  };
  await table.transact([{ put: askItem(ask) }, ...(attentionFloor.asks?.({ ask, at: NOW }) ?? [])]);
};
const execution = async () => {
  const row = await table.get(keys.execution(ORG, executionIdOf(0)));
  if (row === undefined) throw new Error('The execution is missing.');
  return readExecution(row);
};
const permission = () => getPermission({ table }, ORG, ASK);
const expire = () => expireAsk(deps(), key);
const decide = (more = {}, by = deps()) =>
  decidePermission(by, { orgId: ORG, permissionId: ASK, approve: true, actor: 'key_1', ...more });
/** The decision is made in a process with a clock of its own. */
const clocked = (tells: () => number): ExecutionDeps => ({ ...deps(), clock: { ...deps().clock, now: tells } });
const attention = () => table.dump().filter(({ pk }) => pk === keys.attentions(ORG).pk).length;

describe('in time', () => {
  test('nothing is settled before its second, however early the clock looks', async () => {
    await waiting('reject');
    now = NOW + TTL - 1;
    await expire();
    expect([(await permission()).state, (await execution()).status]).toEqual(['pending', 'WAITING_FOR_PERMISSION']);
    expect(sent).toEqual([]);
  });

  test('a permission without a time limit is never settled by the clock', async () => {
    await waiting('reject', { expiresAt: undefined, duePk: undefined, dueSk: undefined });
    now = NOW + 10 * TTL;
    await expire();
    expect((await permission()).state).toBe('pending');
  });
});

describe('reject', () => {
  test('it is expired by the system, the run goes on, the mark and the attention item are gone', async () => {
    await waiting('reject');
    now = NOW + TTL;
    await expire();
    expect(await permission()).toMatchObject({ state: 'expired', decidedBy: 'system', decidedAt: now });
    expect((await permission()).dueSk).toBeUndefined();
    // Sent at once; if that is lost, the mark of a RUNNING run finds it.
    expect(await execution()).toMatchObject({ status: 'RUNNING', dueSk: expect.any(String) });
    expect(sent).toEqual([{ ...at(), seq: 1 }]);
    expect(told).toMatchObject([{ from: 'WAITING_FOR_PERMISSION', to: 'RUNNING' }]);
    expect(attention()).toBe(0);
    await expire();
    expect(sent).toHaveLength(1);
    await expect(decide()).rejects.toMatchObject({ status: 409, code: 'expired' });
    expect(sent).toHaveLength(1);
  });

  test('of a run that a person paused: it is settled and the run stays paused', async () => {
    await waiting('reject');
    await pauseExecution(deps(), at());
    now = NOW + TTL;
    await expire();
    expect((await permission()).state).toBe('expired');
    expect(await execution()).toMatchObject({ status: 'PAUSED', pausedFrom: 'RUNNING' });
    expect(sent).toEqual([]);
    expect((await resumeExecution(deps(), at())).status).toBe('RUNNING');
  });

  test('at the moment of a decision: one of them stands, the run is woken once', async () => {
    for (let round = 0; round < 10; round++) {
      table = makeMemoryTable(() => now);
      sent = [];
      now = NOW;
      await waiting('reject');
      now = NOW + TTL;
      const inTime = () =>
        decide(
          {},
          clocked(() => NOW + TTL - 1),
        );
      const [, decided] = await Promise.allSettled(
        round % 2 === 0 ? [expire(), inTime()] : [inTime(), expire()].toReversed(),
      );
      const { state } = await permission();
      expect(state).toBe(decided?.status === 'fulfilled' ? 'approved' : 'expired');
      expect(sent).toHaveLength(1);
      expect(attention()).toBe(0);
    }
  });

  test('after the run has ended: only the mark goes, and it was gone already', async () => {
    await waiting('reject');
    await terminateExecution(deps(), at());
    expect(await permission()).toMatchObject({ state: 'cancelled' });
    expect((await permission()).dueSk).toBeUndefined();
    now = NOW + TTL;
    await expire();
    expect((await permission()).state).toBe('cancelled');
  });
});

describe('a decision before the clock has come by', () => {
  test('in the last millisecond counts', async () => {
    await waiting('reject');
    now = NOW + TTL - 1;
    expect((await decide()).state).toBe('approved');
  });

  test.each([
    [0, true],
    [0, false],
    [30_000, true],
  ])('%i ms too late (approve %s): refused, and the expiry settled on the spot', async (late, approve) => {
    await waiting('reject');
    now = NOW + TTL + late;
    const expiresAt = new Date(NOW + TTL).toISOString();
    const argumentsHash = late === 0 ? undefined : '0'.repeat(64);
    await expect(decide({ approve, argumentsHash })).rejects.toMatchObject({
      status: 409,
      code: 'expired',
      details: { expiresAt },
    });
    expect(await permission()).toMatchObject({ state: 'expired', decidedBy: 'system', decidedAt: now });
    expect((await execution()).status).toBe('RUNNING');
    expect(sent).toEqual([{ ...at(), seq: 1 }]);
    expect(attention()).toBe(0);
    await expire();
    await expect(decide({ approve })).rejects.toMatchObject({ status: 409, code: 'expired' });
    expect(sent).toHaveLength(1);
  });

  test('whose time runs out between its look and its write approves nothing', async () => {
    await waiting('reject');
    let looks = 0;
    const slow = clocked(() => (looks++ === 0 ? NOW + TTL - 1 : NOW + TTL));
    await expect(decide({}, slow)).rejects.toMatchObject({ status: 409, code: 'expired' });
    expect(looks).toBeGreaterThan(1);
    expect(await permission()).toMatchObject({ state: 'expired', decidedBy: 'system' });
    expect(sent).toHaveLength(1);
  });

  test('where an expiry pauses: the first one pauses it, the next one is a decision', async () => {
    await waiting('pause');
    now = NOW + TTL;
    await expect(decide()).rejects.toMatchObject({ status: 409, code: 'expired' });
    expect(await execution()).toMatchObject({ status: 'PAUSED', reason: 'permission_expired' });
    expect((await permission()).state).toBe('pending');
    expect(attention()).toBe(1);
    now += 1;
    expect((await decide()).state).toBe('approved');
    expect((await execution()).status).toBe('RUNNING');
  });

  test('of a run that a person paused: it is settled, and the run stays paused', async () => {
    await waiting('reject');
    await pauseExecution(deps(), at());
    now = NOW + TTL;
    await expect(decide()).rejects.toMatchObject({ code: 'expired' });
    expect((await permission()).state).toBe('expired');
    expect(await execution()).toMatchObject({ status: 'PAUSED', pausedFrom: 'RUNNING' });
  });

  test('two at once: both are refused, the run is woken once', async () => {
    await waiting('reject');
    now = NOW + TTL;
    const both = await Promise.allSettled([decide(), decide({ approve: false }), expire()]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect((await permission()).state).toBe('expired');
    expect(sent).toHaveLength(1);
  });
});

describe('pause', () => {
  test('the run is paused with the reason, and the permission stays to be decided', async () => {
    await waiting('pause');
    now = NOW + TTL;
    await expire();
    const reason = 'permission_expired';
    expect(await execution()).toMatchObject({ status: 'PAUSED', pausedFrom: 'WAITING_FOR_PERMISSION', reason });
    expect(told).toMatchObject([{ from: 'WAITING_FOR_PERMISSION', to: 'PAUSED', reason }]);
    expect((await permission()).state).toBe('pending');
    expect(attention()).toBe(1);
    // Not found again.
    expect((await permission()).dueSk).toBeUndefined();
    await expire();
    expect(told).toHaveLength(1);
  });

  test.each([true, false])('a decision after it (approve %s) counts and lets the run go on', async (approve) => {
    await waiting('pause');
    now = NOW + TTL;
    await expire();
    expect((await decide({ approve })).state).toBe(approve ? 'approved' : 'rejected');
    const after = await execution();
    expect(after.status).toBe('RUNNING');
    expect([after.pausedFrom, after.reason]).toEqual([undefined, undefined]);
    expect(sent).toHaveLength(1);
    expect(attention()).toBe(0);
  });

  test('a resume after it waits again, and a pause by a person then outlasts the decision', async () => {
    await waiting('pause');
    now = NOW + TTL;
    await expire();
    expect((await resumeExecution(deps(), at())).status).toBe('WAITING_FOR_PERMISSION');
    now += 1;
    await pauseExecution(deps(), at());
    await decide();
    expect(await execution()).toMatchObject({ status: 'PAUSED', pausedFrom: 'RUNNING' });
    expect(sent).toEqual([]);
  });

  test('of a run that is paused already: nothing but the mark goes', async () => {
    await waiting('pause');
    await pauseExecution(deps(), at());
    const before = await execution();
    now = NOW + TTL;
    await expire();
    expect(await execution()).toEqual(before);
    expect(await permission()).toMatchObject({ state: 'pending' });
    expect((await permission()).dueSk).toBeUndefined();
  });
});

describe('a decision', () => {
  test('about another call than the one that is asked about is refused', async () => {
    await waiting('reject');
    const given = { argumentsHash: argumentsHash({ ...CALL, arguments: '{"all":true}' }) };
    await expect(decide(given)).rejects.toMatchObject({ status: 409, code: 'arguments_differ' });
    expect((await permission()).state).toBe('pending');
    expect((await decide({ argumentsHash: argumentsHash(CALL) })).state).toBe('approved');
  });

  test('under an id that only looks like the row is a 404', async () => {
    await waiting('reject');
    const padded = ASK.replace('_1_101', '_01_0101');
    await expect(decide({ permissionId: padded })).rejects.toMatchObject({ status: 404 });
    await expect(decide({ permissionId: `${ASK}_q` })).rejects.toMatchObject({ status: 404 });
  });

  test('is listed by its run', async () => {
    await waiting('reject');
    await decide();
    const list = (filter: Parameters<typeof listPermissions>[2]) => listPermissions(deps(), ORG, filter, { limit: 10 });
    expect((await list({ executionId: executionIdOf(0) })).items).toMatchObject([{ askId: ASK }]);
    expect((await list({ executionId: executionIdOf(0), state: 'pending' })).items).toEqual([]);
    expect((await list({ executionId: executionIdOf(1) })).items).toEqual([]);
    expect((await list({ state: 'approved' })).items).toMatchObject([{ askId: ASK }]);
  });
});
