import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { RULES } from '../lib/names.ts';
import type { Assembly } from '../local/template/assembly.ts';
import type { BenchCloud } from './cloud.ts';
import { pollsPerDay } from './cost.ts';
import { invocationsOf, parseTrace, useOf } from './rounds.ts';
import { mean } from './stats.ts';
import { functionOf } from './steps.ts';

const MINUTES_OF_A_DAY = 1_440;

/** Firings a day of the rule that wakes this function, as the template has it. */
const firingsPerDay = ({ rules }: Assembly, functionArn: string): number => {
  const rule = rules.find(({ targets }) => targets.some(({ arn }) => arn === functionArn));
  const minutes = Number(/^rate\((\d+) minutes?\)$/.exec(rule?.schedule ?? '')?.[1]);
  if (!(minutes > 0)) throw new Error(`No rule with a rate in minutes wakes ${functionArn}.`);
  return MINUTES_OF_A_DAY / minutes;
};

/** An installation in which nothing runs, a day. */
export interface Idle {
  readonly invocations: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Computed, not counted: see `pollsPerDay`. */
  readonly polls: number;
}

/** Fires each rule of the clock some times and counts what one firing asks. */
export const measureIdle = async (cloud: BenchCloud, assembly: Assembly, traceFile: string): Promise<Idle> => {
  const uses = (name: string) =>
    invocationsOf(parseTrace(readFileSync(traceFile, 'utf8')), functionOf(assembly, name).roleLogicalId).map(useOf);
  const perDay = { invocations: 0, readUnits: 0, writeUnits: 0 };
  for (const rule of [RULES.tick, RULES.sweep]) {
    const before = uses(rule).length;
    await cloud.fire(rule);
    const until = performance.now() + 20_000;
    while (uses(rule).length === before) {
      if (performance.now() > until) throw new Error(`Nothing was asked 20 s after the rule ${rule} fired.`);
      await sleep(50);
    }
    // Its further requests follow within moments.
    await sleep(500);
    const fired = uses(rule).slice(before);
    const times = firingsPerDay(assembly, functionOf(assembly, rule).arn);
    perDay.invocations += times;
    perDay.readUnits += times * (mean(fired.map(({ readUnits }) => readUnits)) ?? 0);
    perDay.writeUnits += times * (mean(fired.map(({ writeUnits }) => writeUnits)) ?? 0);
  }
  return { ...perDay, polls: pollsPerDay(assembly.eventSourceMappings.filter(({ enabled }) => enabled).length) };
};
