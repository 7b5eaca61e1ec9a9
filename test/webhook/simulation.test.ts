import { describe, expect, it } from 'vitest';
import type { Fault } from '../simulation/faults.ts';
import { violationsOf } from './support/judge.ts';
import { HOUR, type Receiver, type SimOptions, WebhookSim } from './support/sim.ts';

const well: Receiver = () => ({ status: 204 });
/** The first `count` requests fail. */
const shaky =
  (count: number): Receiver =>
  ({ n }) => ({ status: n <= count ? 500 : 200 });

const run = async (options: SimOptions, events = 2): Promise<{ sim: WebhookSim; told: string[] }> => {
  const sim = new WebhookSim(options);
  await sim.start();
  const told: string[] = [];
  for (let n = 0; n < events; n++) told.push(await sim.event());
  await sim.pass(6 * HOUR);
  return { sim, told };
};

const receivers = { good: well, bad: shaky(2) };
const FAULTS: readonly Fault[] = [
  'crash_before',
  'crash_after',
  'lost_response',
  'retried',
  'throttle',
  'duplicate',
  'sweep',
  'slow',
];

describe('fan-out and delivery', () => {
  it('reach every endpoint under one id for each event, with nothing left behind', async () => {
    const { sim, told } = await run({ receivers });
    expect(violationsOf(sim, told, ['good', 'bad'])).toEqual([]);
    expect(sim.hits.filter(({ endpoint }) => endpoint === 'good')).toHaveLength(2);
    expect(sim.hits.filter(({ endpoint }) => endpoint === 'bad')).toHaveLength(4);
    expect(new Set(sim.hits.map(({ webhookId }) => webhookId)).size).toBe(4);
  });

  it('an event whose message is lost is found by the sweep', async () => {
    const sim = new WebhookSim({ receivers });
    await sim.start();
    const event = await sim.event(true);
    await sim.pass(HOUR);
    expect(violationsOf(sim, [event], ['good', 'bad'])).toEqual([]);
  });

  it.each(FAULTS)('survive %s at every port call', async (fault) => {
    const calls = (await run({ receivers })).sim.injector.calls;
    expect(calls).toBeGreaterThan(40);
    for (let at = 0; at < calls; at++) {
      const { sim, told } = await run({ receivers, seed: at, faultAt: (call) => (call === at ? fault : undefined) });
      expect({ at, name: sim.injector.names[at], found: violationsOf(sim, told, ['good', 'bad']) }).toMatchObject({
        found: [],
      });
    }
  });

  it('survive storms of faults', async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const chance = new WebhookSim({ receivers, seed: seed * 7 }).world.random;
      const faultAt = (): Fault | undefined =>
        chance() < 0.12 ? FAULTS[Math.floor(chance() * FAULTS.length)] : undefined;
      const { sim, told } = await run({ receivers, seed, faultAt, workers: 2 }, 4);
      await sim.pass(12 * HOUR);
      expect({ seed, found: violationsOf(sim, told, ['good', 'bad']) }).toMatchObject({ found: [] });
    }
  });
});
