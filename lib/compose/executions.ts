import type { EffectDeps } from '../effect/deliver.ts';
import { statusEvents } from '../effect/status-events.ts';
import type { ExecutionDeps } from '../execution/step/deps.ts';
import { together } from '../execution/upper-floors.ts';
import { clock, effects, ids, log, metrics, once, steps, table } from './core.ts';
import { models } from './models.ts';

/** What the clock and the dead letters need: no model, no tools, no bucket. */
export const executionDeps = once((): ExecutionDeps & Pick<EffectDeps, 'effects'> => ({
  table: table(),
  steps: steps(),
  effects: effects(),
  clock,
  log,
  metrics,
  upper: together([statusEvents({ effects: effects(), log })]),
}));

export const startDeps = once(() => ({ ...executionDeps(), ids, resolveModel: models() }));
