import { describe, expect, it } from 'vitest';
import { readExecution } from '../../lib/execution/execution.ts';
import { BOOKED, BUDGETED, BUDGETED_ALONE, DAILY_BUDGET, LONG, LONG_DAY } from './book-aims.ts';
import { booksAreExact, budgetHolds } from './book-checks.ts';
import { FAULTS, type Fault } from './faults.ts';
import { judge } from './judge.ts';
import { simulate } from './play.ts';
import { randomScenario } from './random.ts';

const ONE: typeof BOOKED = { ...BOOKED, executions: 1 };

describe('the books of a run that is struck', () => {
  it.each(FAULTS)(
    'are exact after one %s at any port call',
    async (fault) => {
      const calls = (await judge({ seed: 1, ...ONE })).sim.injector.calls;
      const failed: string[] = [];
      for (let call = 0; call < calls; call++) {
        const faultAt = (n: number): Fault | undefined => (n === call ? fault : undefined);
        const { sim, violations } = await judge({ seed: 1, ...ONE, clock: false, faultAt });
        if (violations.length > 0) failed.push(`call ${call} (${sim.injector.names[call]}): ${violations.join('; ')}`);
      }
      expect(failed.slice(0, 5)).toEqual([]);
    },
    60_000,
  );
});

describe('prompts far beyond the window', () => {
  it('are reserved at their real size, by one write more for the whole run', async () => {
    const { sim, violations } = await judge({ seed: 1, ...LONG });
    expect(violations).toEqual([]);
    expect(sim.model.purchases).toHaveLength(4);
    // The claims and commits of steps have names of their own.
    expect(sim.injector.names.filter((name) => name === 'update EXEC')).toHaveLength(1);
    expect(sim.injector.names).toContain('update EXEC commit');
  });

  it.each(FAULTS)(
    'overspend neither their run nor the day after one %s at any port call',
    async (fault) => {
      const failed: string[] = [];
      for (const base of [LONG, LONG_DAY]) {
        const { calls } = (await judge({ seed: 1, ...base })).sim.injector;
        for (let call = 0; call < calls; call++) {
          const faultAt = (n: number): Fault | undefined => (n === call ? fault : undefined);
          const { sim, violations } = await judge({ seed: 1, ...base, clock: false, faultAt });
          if (violations.length > 0)
            failed.push(`call ${call} (${sim.injector.names[call]}): ${violations.join('; ')}`);
        }
      }
      expect(failed.slice(0, 5)).toEqual([]);
    },
    60_000,
  );
});

/** Kinds after which a tranche could be counted twice, or not at all. */
const STRIDE = process.env.SIM_FULL === undefined ? 2 : 1;
const PAIRED: readonly Fault[] = ['crash_after', 'lost_response', 'lease_expiry', 'terminate'];

describe('a daily budget', () => {
  it('stops five runs at once before it is overspent, with one attention item for all', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { sim, violations } = await judge({ seed, ...BUDGETED });
      expect(violations).toEqual([]);
      const rows = [...sim.observed.executions.values()].map(readExecution);
      expect(new Set(rows.map(({ reason }) => reason))).toEqual(new Set(['organisation_daily_budget']));
      // What is left has no room for one more call, and little of it went unused.
      expect(sim.mostGranted).toBeGreaterThan(DAILY_BUDGET - 2_500);
      expect(sim.memory.dump().filter(({ pk }) => pk.endsWith('#ATTENTION'))).toHaveLength(1);
    }
  });

  it.each(FAULTS)(
    'is never overspent after one %s at any port call',
    async (fault) => {
      const calls = (await judge({ seed: 1, ...BUDGETED_ALONE })).sim.injector.calls;
      expect(calls).toBeGreaterThan(10);
      const failed: string[] = [];
      for (let call = 0; call < calls; call++) {
        const faultAt = (n: number): Fault | undefined => (n === call ? fault : undefined);
        const { sim, violations } = await judge({ seed: 1, ...BUDGETED_ALONE, clock: false, faultAt });
        if (violations.length > 0) failed.push(`call ${call} (${sim.injector.names[call]}): ${violations.join('; ')}`);
      }
      expect(failed.slice(0, 5)).toEqual([]);
    },
    60_000,
  );

  it.each(PAIRED)(
    'is never overspent after %s and another fault, at any two port calls',
    async (first) => {
      const calls = (await judge({ seed: 1, ...BUDGETED_ALONE })).sim.injector.calls;
      const failed: string[] = [];
      for (const second of PAIRED) {
        for (let i = 0; i < calls; i++) {
          // Every other call, the odd ones after the even ones: half the time, and SIM_FULL=1 takes all.
          for (let j = i + 1; j < calls + 8; j += STRIDE) {
            const faultAt = (n: number): Fault | undefined => (n === i ? first : n === j ? second : undefined);
            const { violations } = await judge({ seed: 1, ...BUDGETED_ALONE, clock: false, faultAt });
            if (violations.length > 0) failed.push(`${first} at ${i}, ${second} at ${j}: ${violations.join('; ')}`);
          }
        }
      }
      expect(failed.slice(0, 5)).toEqual([]);
    },
    240_000,
  );

  it('keeps its sums in random runs with faults, people and clocks that differ', async () => {
    const failed: string[] = [];
    let stopped = 0;
    for (let seed = 1; seed <= 80; seed++) {
      const random = randomScenario(seed);
      const dailyBudget = 3_000 + (seed % 7) * 1_500;
      const config = { ...random.config, contextTokens: 1_000, maxReplyTokens: 100 };
      const sim = await simulate({ ...random, config, dailyBudget, books: true });
      const found = [...sim.surprises.map(String), ...booksAreExact(sim), ...budgetHolds(sim)];
      if (found.length > 0) failed.push(`seed ${seed}: ${found.join('; ')}`);
      if ([...sim.observed.executions.values()].map(readExecution).some(({ status }) => status === 'BUDGET_EXCEEDED'))
        stopped++;
    }
    expect(failed).toEqual([]);
    expect(stopped).toBeGreaterThan(20);
  }, 240_000);
});
