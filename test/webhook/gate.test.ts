/** Endpoints that are dead, slow, gone, or come back, in hours and days of virtual time. */
import { describe, expect, it } from 'vitest';
import { keys } from '../../lib/kernel/keys.ts';
import { remove, set } from '../../lib/kernel/table.ts';
import type { Fault } from '../simulation/faults.ts';
import { violationsOf } from './support/judge.ts';
import { HOUR, MINUTE, ORG, type Receiver, WebhookSim, webhookIdOf } from './support/sim.ts';

const DAY = 24 * HOUR;
const well: Receiver = () => ({ status: 204 });
const hangs: Receiver = () => ({ ms: 10_000 });
const refuses: Receiver = () => ({ status: 503 });

const started = async (options: ConstructorParameters<typeof WebhookSim>[0]): Promise<WebhookSim> => {
  const sim = new WebhookSim(options);
  await sim.start();
  return sim;
};
const events = async (sim: WebhookSim, count: number, everyMs = 0): Promise<string[]> => {
  const told: string[] = [];
  for (let n = 0; n < count; n++) {
    told.push(await sim.event());
    if (everyMs > 0) await sim.pass(everyMs);
  }
  return told;
};
const hitsOf = (sim: Pick<WebhookSim, 'hits'>, endpoint: string) => sim.hits.filter((hit) => hit.endpoint === endpoint);

describe('a dead endpoint', () => {
  it.each([
    ['hangs', hangs],
    ['refuses', refuses],
  ])('that %s does not delay another one, with five workers and hundreds of events', async (_, dead) => {
    const sim = await started({ receivers: { dead, good: well }, workers: 5 });
    const lags: number[] = [];
    for (let n = 0; n < 300; n++) {
      const at = sim.world.now;
      const event = await sim.event();
      await sim.pass(1_000);
      const heard = sim.hits.find((hit) => hit.endpoint === 'good' && hit.eventId === event);
      lags.push((heard?.at ?? Number.POSITIVE_INFINITY) - at);
    }
    expect(Math.max(...lags)).toBeLessThan(1_000);
  });

  it('costs one probe at a time, ever more rarely, and no worker', async () => {
    const sim = await started({ receivers: { dead: hangs } });
    await events(sim, 50);
    await sim.pass(10 * MINUTE);
    expect(await sim.gate('dead')).toMatchObject({ open: true });
    expect(sim.deliveries('dead').every(({ held }) => held)).toBe(true);
    const before = { hits: sim.hits.length, invocations: sim.invocations };
    await sim.pass(6 * HOUR);
    const probes = sim.hits.slice(before.hits);
    expect(probes.length).toBeGreaterThan(4);
    expect(probes.length).toBeLessThan(20);
    // Each is longer under way than the 10 s of its time-out only if none was beside it.
    for (const [index, probe] of probes.entries()) {
      expect(probe.at - (probes[index - 1]?.at ?? 0)).toBeGreaterThan(10_000);
    }
    expect(sim.invocations - before.invocations).toBeLessThan(3 * probes.length + 5);
    // Another delivery each time.
    expect(new Set(probes.map(({ webhookId }) => webhookId)).size).toBeGreaterThan(1);
  });

  it('costs nothing for what happens meanwhile', async () => {
    const sim = await started({ receivers: { dead: refuses } });
    await events(sim, 20);
    await sim.pass(HOUR);
    const { probeAt = 0 } = await sim.gate('dead');
    expect(probeAt).toBeGreaterThan(sim.world.now + MINUTE);
    const hits = sim.hits.length;
    await events(sim, 30, 1_000);
    expect(sim.hits).toHaveLength(hits);
    expect(sim.deliveries().filter(({ held }) => held)).toHaveLength(50);
  });

  it('that comes back gets everything, under the ids of before', async () => {
    const { now } = new WebhookSim({ receivers: {} }).world;
    const outage: Receiver = ({ at }) => (at < now + 3 * HOUR ? { ms: 10_000 } : { status: 200 });
    const sim = await started({ receivers: { back: outage, good: well }, workers: 5 });
    const told = await events(sim, 240, 20_000);
    await sim.pass(10 * HOUR);
    expect(violationsOf(sim, told, ['back', 'good'])).toEqual([]);
    expect(await sim.gate('back')).toMatchObject({ open: false, failures: 0 });
    // What waited was let go by the good answer itself, not by the clock some minutes later.
    const good = hitsOf(sim, 'back').filter(({ status }) => status === 200);
    expect((good[20]?.at ?? Number.POSITIVE_INFINITY) - (good[0]?.at ?? 0)).toBeLessThan(MINUTE);
  });

  it('is given up after a day, and the deliveries are kept as dead', async () => {
    const sim = await started({ receivers: { dead: refuses } });
    await events(sim, 15);
    await sim.pass(26 * HOUR);
    expect(sim.deliveries().map(({ state }) => state)).toEqual(Array(15).fill('dead'));
    expect(sim.deliveries().every(({ lastStatus }) => lastStatus === 503 || lastStatus === undefined)).toBe(true);
    expect(sim.rows('HELD#')).toEqual([]);
    const hits = sim.hits.length;
    await sim.pass(12 * HOUR);
    expect(sim.hits).toHaveLength(hits);
  });

  it('is disabled after five days of nothing but failures, and people are asked', async () => {
    const sim = await started({ receivers: { dead: refuses } });
    for (let day = 0; day < 6; day++) {
      await events(sim, 12);
      await sim.pass(DAY - MINUTE);
    }
    expect(await sim.endpoint('dead')).toMatchObject({ state: 'disabled', reason: 'failing' });
    expect(sim.memory.dump().filter(({ pk }) => pk === `ORG#${ORG}#ATTENTION`)).toMatchObject([
      { kind: 'webhook_disabled', subjectId: webhookIdOf('dead') },
    ]);
    const hits = sim.hits.length;
    await events(sim, 3);
    await sim.pass(2 * DAY);
    expect(sim.hits).toHaveLength(hits);
    expect(sim.deliveries().filter(({ state }) => state !== 'dead')).toEqual([]);
  });

  it('a good answer in between begins the five days anew', async () => {
    const { now } = new WebhookSim({ receivers: {} }).world;
    const rarely: Receiver = ({ at }) => ({ status: at > now + 4 * DAY && at < now + 4.5 * DAY ? 200 : 500 });
    const sim = await started({ receivers: { rarely } });
    for (let day = 0; day < 7; day++) {
      await events(sim, 12);
      await sim.pass(DAY);
    }
    expect(await sim.endpoint('rarely')).toMatchObject({ state: 'enabled' });
  });
});

describe('an answer of', () => {
  it('410 disables at once, and nothing is sent any more', async () => {
    const sim = await started({ receivers: { gone: () => ({ status: 410 }), good: well } });
    const told = await events(sim, 1);
    await sim.pass(HOUR);
    expect(await sim.endpoint('gone')).toMatchObject({ state: 'disabled', reason: 'gone' });
    told.push(...(await events(sim, 5)));
    await sim.pass(HOUR);
    expect(hitsOf(sim, 'gone')).toHaveLength(1);
    expect(hitsOf(sim, 'good')).toHaveLength(told.length);
    expect(sim.deliveries('gone')).toMatchObject([
      {
        state: 'dead',
        lastStatus: 410,
        lastError: 'The receiver answered 410; expected 2xx. The webhook is disabled. It answered 410 Gone.',
      },
    ]);
  });

  it('301 is a failure', async () => {
    const sim = await started({ receivers: { moved: ({ n }) => ({ status: n === 1 ? 301 : 200 }) } });
    await events(sim, 1);
    await sim.pass(500);
    expect(sim.deliveries()).toMatchObject([{ state: 'pending', attempts: 1, lastStatus: 301 }]);
    expect(sim.deliveries()[0]?.lastError).toMatch(/Redirects are not followed/);
    await sim.pass(MINUTE);
    expect(sim.deliveries()).toMatchObject([{ state: 'delivered', attempts: 2, excerpt: 'told' }]);
    expect(sim.deliveries()[0]?.lastError).toBeUndefined();
  });
});

describe('a copy of a message', () => {
  it('that comes while its delivery is under way sends nothing', async () => {
    const sim = await started({ receivers: { slow: () => ({ status: 200, ms: 8_000 }) } });
    await events(sim, 1);
    await sim.pass(2_000);
    const [delivery] = sim.deliveries();
    const message = { orgId: ORG, webhookId: webhookIdOf('slow'), deliveryId: delivery?.deliveryId ?? '' };
    for (let n = 0; n < 3; n++) sim.queue.send(message, 0);
    await sim.pass(MINUTE);
    expect(sim.hits).toHaveLength(1);
    expect(sim.deliveries()).toMatchObject([{ state: 'delivered', attempts: 1 }]);
  });

  it('that comes before the next attempt is due sends nothing', async () => {
    const sim = await started({ receivers: { bad: refuses } });
    await events(sim, 1);
    await sim.pass(5 * MINUTE);
    const [delivery] = sim.deliveries();
    const wait = (delivery?.nextAt ?? 0) - sim.world.now;
    expect(wait).toBeGreaterThan(10_000);
    const hits = sim.hits.length;
    sim.queue.send({ orgId: ORG, webhookId: webhookIdOf('bad'), deliveryId: delivery?.deliveryId ?? '' }, 0);
    await sim.pass(2_000);
    expect(sim.hits).toHaveLength(hits);
  });
});

describe('one event that a receiver cannot take', () => {
  it('neither stops the others nor is tried more than some dozens of times in its day', async () => {
    const poison: Receiver = ({ eventId }) => ({ status: eventId.endsWith('1') ? 400 : 200 });
    const sim = await started({ receivers: { picky: poison } });
    const told = await events(sim, 1);
    for (let hour = 0; hour < 26; hour++) {
      const sequence = await sim.event();
      if (!sequence.endsWith('1')) told.push(sequence);
      await sim.pass(HOUR);
    }
    const [poisoned = ''] = told.splice(0, 1);
    for (const event of told)
      expect(sim.hits.filter((hit) => hit.eventId === event && hit.status === 200)).toHaveLength(1);
    const tries = sim.hits.filter((hit) => hit.eventId === poisoned);
    expect(tries.length).toBeGreaterThan(15);
    expect(tries.length).toBeLessThan(80);
    expect(sim.deliveries().find(({ eventId }) => eventId === poisoned)).toMatchObject({ state: 'dead' });
  });
});

describe('an organisation that is stopped', () => {
  it('has nothing sent, and everything when it goes on', async () => {
    const sim = await started({ receivers: { good: well } });
    await sim.memory.update(keys.organisation(ORG), [set('stopped', { at: 'now', by: 'key' })]);
    const told = await events(sim, 3);
    await sim.pass(2 * HOUR);
    expect(sim.hits).toEqual([]);
    await sim.memory.update(keys.organisation(ORG), [remove('stopped')]);
    await sim.pass(HOUR);
    expect(violationsOf(sim, told, ['good'])).toEqual([]);
  });
});

describe('an organisation that is stopped in the middle of an outage', () => {
  it('has nothing tried until it goes on, deliveries behind a gate neither', async () => {
    const sim = await started({ receivers: { many: refuses } });
    await events(sim, 30);
    await sim.pass(5 * MINUTE);
    expect(await sim.gate('many')).toMatchObject({ open: true });
    await sim.add('few', ['execution.status_changed']);
    await events(sim, 1);
    await sim.pass(20_000);
    expect(sim.deliveries('few')).toMatchObject([{ state: 'pending', nextAt: expect.any(Number) }]);
    await sim.memory.update(keys.organisation(ORG), [set('stopped', { at: 'now', by: 'key' })]);
    await sim.pass(15_000);
    const hits = sim.hits.length;
    await sim.pass(4 * HOUR);
    expect(sim.hits).toHaveLength(hits);
    await sim.memory.update(keys.organisation(ORG), [remove('stopped')]);
    await sim.pass(HOUR);
    for (const name of ['few', 'many']) expect(hitsOf({ hits: sim.hits.slice(hits) }, name).length).toBeGreaterThan(0);
  });
});

describe('an outage with faults', () => {
  const FAULTS: readonly Fault[] = [
    'crash_before',
    'crash_after',
    'lost_response',
    'throttle',
    'duplicate',
    'slow',
    'sweep',
  ];
  it('ends with everything delivered once the receiver is back', async () => {
    const { now } = new WebhookSim({ receivers: {} }).world;
    for (let seed = 1; seed <= 25; seed++) {
      const outage: Receiver = ({ at }) => ({ status: at < now + 20 * MINUTE ? 500 : 200 });
      const chance = new WebhookSim({ receivers: {}, seed: seed * 31 }).world.random;
      const faultAt = (): Fault | undefined =>
        chance() < 0.06 ? FAULTS[Math.floor(chance() * FAULTS.length)] : undefined;
      const sim = await started({ receivers: { back: outage, good: well }, workers: 3, seed, faultAt });
      const told = await events(sim, 25, 20_000);
      await sim.pass(20 * HOUR);
      expect({ seed, found: violationsOf(sim, told, ['back', 'good']) }).toMatchObject({ found: [] });
    }
  });
});
