import { describe, expect, it } from 'vitest';
import { keys } from '../../lib/kernel/keys.ts';
import { newDeliveryItem, readDelivery, TRIED_FOR_MS } from '../../lib/webhook/delivery.ts';
import type { WebhookEvent } from '../../lib/webhook/events.ts';
import { gateItem, newGate } from '../../lib/webhook/gate.ts';
import { bury, hold, letDeliveryGo, recordFailure, recordSuccess } from '../../lib/webhook/record.ts';
import { makeMemoryTable } from '../support/memory-table.ts';

const NOW = Date.UTC(2026, 0, 1);
const event: WebhookEvent = { id: 'eff_1', type: 'execution.status_changed', at: NOW, sequence: 1, data: {} };
const item = newDeliveryItem('org_1', 'whk_1', event, NOW);
const failure = (at = NOW) => ({ ok: false, gone: false, at, status: 500, error: 'no' });

const made = async (open: boolean) => {
  const table = makeMemoryTable();
  await table.put(item);
  await table.put(gateItem({ ...newGate('org_1', 'whk_1'), open }));
  const read = async () => readDelivery((await table.get(item)) ?? item);
  const held = async () => (await table.query({ ...keys.allWebhookHeld('org_1', 'whk_1') })).items.length;
  return { table, read, held };
};

describe('a delivery', () => {
  it('is held behind an open gate alone', async () => {
    const { table, read, held } = await made(false);
    expect(await hold(table, await read(), NOW)).toBe(false);
    expect([(await read()).held, await held()]).toEqual([undefined, 0]);
    await table.put(gateItem({ ...newGate('org_1', 'whk_1'), open: true }));
    expect(await hold(table, await read(), NOW)).toBe(true);
    expect([(await read()).held, await held()]).toEqual([true, 1]);
    expect(await read()).not.toHaveProperty('duePk');
    expect(await hold(table, readDelivery(item), NOW)).toBe(true);
  });

  it('that failed as the gate closed again is tried later like any other', async () => {
    const { table, read } = await made(false);
    const failed = await recordFailure(table, await read(), failure(), true, 0.5);
    expect(failed).toEqual({ kind: 'later', atMs: NOW + 1_000 });
    expect(await read()).toMatchObject({ attempts: 1, nextAt: NOW + 1_000, lastStatus: 500, lastError: 'no' });
  });

  it('that somebody else held back meanwhile gets no second mark', async () => {
    const { table, read } = await made(true);
    const seen = await read();
    await hold(table, seen, NOW);
    expect(await recordFailure(table, seen, failure(), false, 0.5)).toEqual({ kind: 'held' });
    expect(await read()).toMatchObject({ attempts: 1, held: true });
    expect(await read()).not.toHaveProperty('duePk');
  });

  it('is let go once', async () => {
    const { table, read, held } = await made(true);
    await hold(table, await read(), NOW);
    const seen = await read();
    const both = await Promise.all([letDeliveryGo(table, seen, NOW, NOW), letDeliveryGo(table, seen, NOW, NOW)]);
    expect(both.toSorted()).toEqual([false, true]);
    expect(await held()).toBe(0);
    expect(await read()).toMatchObject({ nextAt: NOW, duePk: expect.stringContaining('DUE#sweep') });
  });

  it('comes to rest when it is delivered, and nothing moves it any more', async () => {
    const { table, read, held } = await made(true);
    await hold(table, await read(), NOW);
    const seen = await read();
    await recordSuccess(table, seen, { ok: true, gone: false, at: NOW + 5, status: 204, excerpt: '' });
    await recordFailure(table, seen, failure(), false, 1);
    await bury(table, seen, 'late', NOW);
    const row = await read();
    expect(row).toMatchObject({ state: 'delivered', attempts: 1, deliveredAt: NOW + 5, lastStatus: 204 });
    for (const gone of ['held', 'nextAt', 'duePk', 'lastError', 'excerpt']) expect(row).not.toHaveProperty(gone);
    expect(await held()).toBe(0);
  });

  it('has its last attempt when its day ends, and is dead then', async () => {
    const { table, read } = await made(false);
    const late = NOW + TRIED_FOR_MS - 500;
    expect(await recordFailure(table, await read(), failure(late), false, 1)).toEqual({
      kind: 'later',
      atMs: NOW + TRIED_FOR_MS,
    });
    expect(await recordFailure(table, await read(), failure(NOW + TRIED_FOR_MS), false, 1)).toEqual({ kind: 'over' });
    expect(await read()).toMatchObject({ state: 'dead', attempts: 2, lastError: 'no' });
  });
});
