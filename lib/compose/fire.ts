import { makeCrowd } from '../execution/step/crowd.ts';
import type { FireDeps } from '../schedule/fire.ts';
import { fires, once } from './core.ts';
import { startDeps } from './executions.ts';

/** Messages come up to three seconds early and in batches: a process that has two at once has more behind them. */
const FIRES = { many: 2, withinMs: 3_500 };

export const fireDeps = once(
  (): FireDeps => ({ ...startDeps(), fires: fires(), crowd: makeCrowd(FIRES.many, FIRES.withinMs) }),
);
