/** Run in a mutated copy of the source: looks for a violation, first where the guard's own scenarios are, then everywhere. */
import { FAULTS } from './faults.ts';
import { judge } from './judge.ts';
import { randomScenario } from './random.ts';
import { BASES } from './scenarios.ts';
import type { Scenario } from './sim-run.ts';

const budget = Number(process.argv[2] ?? '60') * 1000;
const started = performance.now();
const found = (where: string, why: readonly string[]): never => {
  console.log(`${Math.round(performance.now() - started)} ms, ${where}: ${why[0]?.slice(0, 300)}`);
  process.exit(0);
};

const look = async (where: string, scenario: Scenario): Promise<void> => {
  const { violations } = await judge(scenario);
  if (violations.length > 0) found(where, violations);
  if (performance.now() - started > budget) {
    console.log('nothing found');
    process.exit(1);
  }
};

for (const [name, base] of Object.entries(BASES)) {
  for (const fault of FAULTS) {
    for (let call = 0; call < 40; call++) {
      await look(`${name}, ${fault} at ${call}`, {
        seed: 1,
        ...base,
        faultAt: (n) => (n === call ? fault : undefined),
      });
    }
  }
}
for (let seed = 1; ; seed++) await look(`seed ${seed}`, randomScenario(seed));
