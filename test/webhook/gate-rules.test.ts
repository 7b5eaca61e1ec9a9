import { describe, expect, it } from 'vitest';
import {
  afterFailure,
  afterSuccess,
  allReleased,
  changeGate,
  enter,
  type Gate,
  gateItem,
  goIn,
  isHopeless,
  letGo,
  newGate,
  PLACE_MS,
  readGate,
} from '../../lib/webhook/gate.ts';
import { backoffMs } from '../../lib/webhook/timing.ts';
import { makeMemoryTable } from '../support/memory-table.ts';

const NOW = Date.UTC(2026, 0, 1);
const fresh = newGate('org_1', 'whk_1');
const entered = (gate: Gate, id: string, now = NOW): Gate => {
  const entry = enter(gate, id, now);
  if (entry.kind !== 'enter') throw new Error(entry.kind);
  return entry.gate;
};
const failing = (times: number, everyMs: number, from = fresh): Gate => {
  let gate = from;
  for (let n = 0; n < times; n++) gate = afterFailure(gate, 'd', 0, NOW + n * everyMs, 0.5);
  return gate;
};

describe('places', () => {
  it('are two, one for each delivery, and free again when their holder died', () => {
    const one = entered(fresh, 'a');
    expect(enter(one, 'a', NOW)).toEqual({ kind: 'twice' });
    const two = entered(one, 'b');
    expect(enter(two, 'c', NOW)).toEqual({ kind: 'busy', well: false });
    expect(enter(two, 'a', NOW + PLACE_MS)).toMatchObject({ kind: 'enter', gate: { places: [{ deliveryId: 'a' }] } });
  });

  it('are four while its last answer was good', () => {
    let gate = afterSuccess(entered(fresh, 'x'), 'x', NOW + PLACE_MS, NOW);
    for (const id of ['a', 'b', 'c', 'd']) gate = entered(gate, id);
    expect(enter(gate, 'e', NOW)).toEqual({ kind: 'busy', well: true });
    const failed = afterFailure(gate, 'a', NOW + PLACE_MS, NOW, 0);
    expect(failed.places).toHaveLength(3);
    expect(enter(failed, 'a', NOW)).toEqual({ kind: 'busy', well: false });
  });

  it('are given back by their holder alone', () => {
    const one = entered(fresh, 'a');
    expect(afterSuccess(one, 'a', NOW + PLACE_MS, NOW).places).toEqual([]);
    expect(afterSuccess(one, 'a', NOW + 1, NOW).places).toHaveLength(1);
    expect(afterFailure(one, 'b', NOW + PLACE_MS, NOW, 0).places).toHaveLength(1);
  });
});

describe('the gate', () => {
  it('opens by failures in a row that last a minute, not by fewer or faster ones', () => {
    expect(failing(9, 60_000).open).toBe(false);
    expect(failing(50, 1_000).open).toBe(false);
    expect(failing(10, 7_000)).toMatchObject({ open: true, failures: 10, probes: 1 });
    expect(failing(5, 60_000, afterSuccess(failing(9, 60_000), 'd', 0, NOW)).open).toBe(false);
  });

  it('lets one probe through when it is due', () => {
    const open = failing(10, 7_000);
    const { probeAt = 0 } = open;
    expect(probeAt - (NOW + 63_000)).toBeGreaterThanOrEqual(7_500);
    expect(enter(open, 'a', probeAt - 1)).toEqual({ kind: 'shut' });
    const probing = entered(open, 'a', probeAt);
    expect(enter(probing, 'b', probeAt)).toEqual({ kind: 'shut' });
  });

  it('waits longer for each probe, an hour at most, and always carries a mark', () => {
    let gate = failing(10, 7_000);
    const waits: number[] = [];
    for (let n = 0; n < 14; n++) {
      const now = gate.probeAt ?? 0;
      gate = afterFailure(gate, 'd', 0, now, 1);
      waits.push((gate.probeAt ?? 0) - now);
      expect(gate.duePk).toMatch((gate.probeAt ?? 0) - now > 900_000 ? /^DUE#tick/ : /^DUE#sweep/);
    }
    expect(waits.slice(0, 3)).toEqual([30_000, 60_000, 120_000]);
    expect(Math.max(...waits)).toBe(3_600_000);
  });

  it('closes with a good answer and remembers that something waits', () => {
    const closed = afterSuccess({ ...failing(12, 60_000), rev: 7 }, 'd', 0, NOW);
    expect(closed).toMatchObject({ open: false, failures: 0, probes: 0, releasing: 8, places: [] });
    expect(closed).not.toHaveProperty('since');
    expect(closed.duePk).toMatch(/^DUE#sweep/);
  });

  it('is done with letting go only for the round that it looked at', () => {
    const first = letGo({ ...fresh, rev: 1 }, NOW);
    const second = letGo({ ...first, rev: 5 }, NOW);
    expect(allReleased(second, first.releasing ?? 0)).toBe(second);
    expect(allReleased(second, second.releasing ?? 0)).not.toHaveProperty('duePk');
    const open = failing(10, 7_000, second);
    expect(open).not.toHaveProperty('releasing');
    expect(allReleased(open, second.releasing ?? 0)).toBe(open);
  });

  it('gives an endpoint up after five days', () => {
    const gate = failing(10, 7_000);
    expect(isHopeless(gate, NOW + 5 * 86_400_000 - 1)).toBe(false);
    expect(isHopeless(gate, NOW + 5 * 86_400_000)).toBe(true);
    expect(isHopeless(failing(3, 1_000), NOW + 9 * 86_400_000)).toBe(false);
  });
});

describe('a change of the gate', () => {
  it('judges again what somebody else wrote, and answers nothing when it is gone', async () => {
    const table = makeMemoryTable();
    await table.put(gateItem(fresh));
    const both = await Promise.all(['a', 'b', 'c'].map((id) => goIn(table, fresh, id, NOW)));
    expect(both.map(({ kind }) => kind).toSorted()).toEqual(['busy', 'in', 'in']);
    const row = readGate((await table.get(gateItem(fresh))) ?? gateItem(fresh));
    expect(row).toMatchObject({ rev: 2 });
    await table.delete(gateItem(fresh));
    expect(await changeGate(table, row, (gate) => ({ ...gate, failures: 1 }))).toBeUndefined();
    expect(table.dump()).toEqual([]);
  });

  it('lets a probe in through an open gate only', async () => {
    const table = makeMemoryTable();
    await table.put(gateItem(fresh));
    expect(await goIn(table, fresh, 'a', NOW, true)).toEqual({ kind: 'shut' });
    expect(await goIn(table, fresh, 'a', NOW)).toMatchObject({ kind: 'in', until: NOW + PLACE_MS });
  });
});

describe('backoff', () => {
  it('doubles from two seconds, with full jitter, up to two hours', () => {
    expect([1, 2, 3, 4, 20].map((failures) => backoffMs(failures, 1))).toEqual([
      2_000, 4_000, 8_000, 16_000, 7_200_000,
    ]);
    expect(backoffMs(8, 0.5)).toBe(128_000);
    expect(backoffMs(8, 0)).toBe(1_000);
  });
});
