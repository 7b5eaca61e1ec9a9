import { describe, expect, it } from 'vitest';
import { documentWrites, postingWrites } from '../../../lib/router/outbox/write.ts';
import type { Fault } from '../../simulation/faults.ts';
import { OutboxSim, type SimOptions, violationsOf } from './support/sim.ts';
import { ORG, place } from './support/world.ts';

const HOUR = 3_600_000;

const FAULTS: readonly Fault[] = [
  'crash_before',
  'crash_after',
  'lost_response',
  'retried',
  'throttle',
  'duplicate',
  'slow',
  'sweep',
  'lease_expiry',
  'freeze_after',
  'clock_ahead',
  'clock_behind',
];

const post = async (sim: OutboxSim, body: string): Promise<string> =>
  sim.write(
    postingWrites({ orgId: ORG, at: sim.world.now, cause: body, place: place(), ticket: await sim.ticket(), body }),
  );
const wish = async (sim: OutboxSim, body: string): Promise<string> =>
  sim.write(documentWrites({ orgId: ORG, at: sim.world.now, place: place(), ticket: await sim.ticket(), body }));

type Scenario = (sim: OutboxSim) => Promise<void>;

const ONE_POST: Scenario = async (sim) => {
  await post(sim, 'A question.');
};
/** Revisions that come while the one before is on its way, and one long after. */
const DOCUMENT: Scenario = async (sim) => {
  await wish(sim, 'one');
  await sim.pass(30);
  await wish(sim, 'two');
  await sim.pass(5_000);
  await wish(sim, 'three');
};
const BOTH: Scenario = async (sim) => {
  await DOCUMENT(sim);
  await post(sim, 'A question.');
};

const run = async (scenario: Scenario, options: SimOptions = {}): Promise<OutboxSim> => {
  const sim = new OutboxSim(options);
  await sim.start();
  await scenario(sim);
  await sim.pass(HOUR);
  return sim;
};

/** Another revision while the one before is on its way, and nothing after it. */
const MOVED: Scenario = async (sim) => {
  await wish(sim, 'one');
  await sim.pass(70);
  await wish(sim, 'two');
};

/** The first run of a hunt that breaks a rule; besides the one fault, the first message comes twice in every other run. */
const hunt = async (
  scenario: Scenario,
  without: SimOptions['without'],
  faults: readonly Fault[],
): Promise<string[]> => {
  const { calls } = (await run(scenario)).injector;
  for (const fault of faults) {
    for (let at = 0; at < calls; at++) {
      for (let seed = 1; seed <= 8; seed++) {
        const twice = seed % 2;
        const faultAt = (call: number): Fault | undefined =>
          call === at ? fault : call < twice ? 'duplicate' : undefined;
        const found = violationsOf(await run(scenario, { seed, faultAt, ...(without !== undefined && { without }) }));
        if (found.length > 0) return found;
      }
    }
  }
  return [];
};

describe('I13 the outbox', () => {
  it.each(FAULTS)('says everything once and shows the newest, whatever call meets %s', async (fault) => {
    const { calls } = (await run(BOTH)).injector;
    expect(calls).toBeGreaterThan(15);
    for (let at = 0; at < calls; at++) {
      const sim = await run(BOTH, { seed: at + 1, faultAt: (call) => (call === at ? fault : undefined) });
      expect({ at, name: sim.injector.names[at], found: violationsOf(sim) }).toMatchObject({ found: [] });
    }
  });

  it('and whatever pair of calls meets a pair of them', { timeout: 240_000 }, async () => {
    const pairs = ['crash_before', 'crash_after', 'lost_response', 'lease_expiry', 'freeze_after'] as const;
    const { calls } = (await run(ONE_POST)).injector;
    for (const first of pairs) {
      for (const second of pairs) {
        for (let a = 0; a < calls; a++) {
          for (let b = a + 1; b < calls + 4; b++) {
            const faultAt = (call: number): Fault | undefined => (call === a ? first : call === b ? second : undefined);
            const found = violationsOf(await run(ONE_POST, { seed: a * 31 + b, faultAt }));
            expect({ first, second, a, b, found }).toMatchObject({ found: [] });
          }
        }
      }
    }
  });

  it('and in storms', { timeout: 120_000 }, async () => {
    for (let seed = 1; seed <= 25; seed++) {
      const chance = new OutboxSim({ seed: seed * 7 }).world.random;
      const faultAt = (): Fault | undefined =>
        chance() < 0.15 ? FAULTS[Math.floor(chance() * FAULTS.length)] : undefined;
      const sim = await run(BOTH, { seed, faultAt });
      await sim.pass(5 * HOUR);
      expect({ seed, found: violationsOf(sim) }).toMatchObject({ found: [] });
    }
  });
});

describe('I9 after a stop', () => {
  const stopped =
    (ms: number): Scenario =>
    async (sim) => {
      await post(sim, 'A question.');
      await wish(sim, 'one');
      await sim.pass(ms);
      await sim.revoke();
    };

  it.each([1, 10, 20, 30, 45, 60, 90])('%i ms in, nothing is begun any more', async (ms) => {
    for (let seed = 1; seed <= 20; seed++) {
      expect({ seed, found: violationsOf(await run(stopped(ms), { seed })) }).toMatchObject({ found: [] });
    }
  });

  it('which is the check of the mandate in the claim', async () => {
    const found: string[] = [];
    for (let ms = 1; ms <= 60 && found.length === 0; ms++) {
      for (let seed = 1; seed <= 5; seed++) {
        found.push(...violationsOf(await run(stopped(ms), { seed, without: 'mandate' })));
      }
    }
    expect(found).toContain('said after the stop');
  });
});

describe('without a guard the simulation finds what it is for:', () => {
  it('none, and it finds nothing', { timeout: 120_000 }, async () => {
    expect(await hunt(ONE_POST, undefined, ['slow', 'freeze_after', 'crash_after'])).toEqual([]);
    expect(await hunt(MOVED, undefined, ['slow'])).toEqual([]);
  });
  it('the claim', async () => {
    expect(await hunt(ONE_POST, 'claim', ['slow'])).not.toEqual([]);
  });
  it('the time after which no write is begun', async () => {
    expect(await hunt(ONE_POST, 'deadline', ['freeze_after'])).not.toEqual([]);
  });
  it('the look before a second sending', async () => {
    expect(await hunt(ONE_POST, 'look', ['crash_after'])).not.toEqual([]);
  });
  it('the revision that is compared when it is out', async () => {
    expect(await hunt(MOVED, 'level', ['slow'])).not.toEqual([]);
  });
});
