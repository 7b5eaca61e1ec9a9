import type { Injector } from './faults.ts';
import { judge } from './judge.ts';
import type { Scenario } from './scenario.ts';

type Strike = Injector['struck'][number];

/** Takes fault after fault away while the run still breaks; what is left replays by its call numbers. */
export const shrink = async (scenario: Scenario, struck: readonly Strike[]): Promise<readonly Strike[]> => {
  const breaks = async (faults: readonly Strike[]): Promise<boolean> => {
    const plan = new Map(faults.map((one) => [one.call, one.fault] as const));
    return (await judge({ ...scenario, faultAt: (call) => plan.get(call) })).violations.length > 0;
  };
  let kept = struck;
  if (!(await breaks(kept))) return kept;
  for (let changed = true; changed; ) {
    changed = false;
    for (const one of kept) {
      const fewer = kept.filter((other) => other !== one);
      if (await breaks(fewer)) {
        kept = fewer;
        changed = true;
      }
    }
  }
  return kept;
};
