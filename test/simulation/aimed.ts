import type { Aim } from './aims.ts';
import type { Fault } from './faults.ts';
import { judge } from './judge.ts';
import type { Scenario } from './scenario.ts';

/** All runs of an aim, one after the other: the first violation, or `undefined` when all hold. */
export const firstViolation = async (aim: Aim): Promise<string | undefined> => {
  for (let seed = 1; seed <= (aim.seeds ?? 1); seed++) {
    const scenario: Scenario = { seed, ...aim.base };
    const clean = await judge(aim.at === undefined ? scenario : { ...scenario, expects: {}, ...statusOf(aim) });
    if (aim.at === undefined) {
      if (clean.violations[0] !== undefined) return `seed ${seed}: ${clean.violations[0]}`;
      continue;
    }
    const [fault, where] = aim.at;
    for (const [call, name] of clean.sim.injector.names.entries()) {
      if (!where.test(name)) continue;
      const { violations } = await judge({ ...scenario, faultAt: striker(call, fault, aim.then) });
      if (violations[0] !== undefined) return `seed ${seed}, ${fault} at ${call} (${name}): ${violations[0]}`;
    }
  }
  return undefined;
};

const statusOf = ({ base: { expects } }: Aim): Pick<Scenario, 'expects'> =>
  expects?.status === undefined ? {} : { expects: { status: expects.status } };

const striker = (at: number, fault: Fault, then: Aim['then']): ((call: number, name: string) => Fault | undefined) => {
  let second = then;
  return (call, name) => {
    if (call === at) return fault;
    if (second === undefined || call < at || !second[1].test(name)) return undefined;
    const [strike] = second;
    second = undefined;
    return strike;
  };
};
