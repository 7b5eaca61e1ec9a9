/** `npm run simulate -- --seeds 100000 [--from 1]`: random runs until one fails; a failing seed is shrunk and printed. */
import { parseArgs } from 'node:util';
import { judge } from './judge.ts';
import { randomScenario } from './random.ts';
import { shrink } from './shrink.ts';

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '2000' }, from: { type: 'string', default: '1' } },
});
const from = Number(values.from);
const seeds = Number(values.seeds);
if (!Number.isSafeInteger(from) || !Number.isSafeInteger(seeds) || seeds < 1) {
  console.error('--seeds and --from take whole numbers.');
  process.exit(2);
}

const started = performance.now();
let calls = 0;
let faults = 0;
for (let seed = from; seed < from + seeds; seed++) {
  const { sim, violations } = await judge(randomScenario(seed));
  calls += sim.injector.calls;
  faults += sim.injector.struck.length;
  if (violations.length > 0) {
    console.error(`seed ${seed} breaks:\n  ${violations.join('\n  ')}`);
    const small = await shrink(randomScenario(seed), sim.injector.struck);
    console.error(
      `shrunk to ${small.length} faults:\n  ${small.map((one) => `${one.fault} at call ${one.call} (${one.name})`).join('\n  ')}`,
    );
    process.exit(1);
  }
  const done = seed - from + 1;
  if (done % 1000 === 0 || done === seeds) {
    const seconds = (performance.now() - started) / 1000;
    console.log(
      `${done} of ${seeds} seeds, ${calls} port calls, ${faults} faults, ${seconds.toFixed(0)} s, no violation`,
    );
  }
}
