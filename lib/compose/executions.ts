import { attentionFloor } from '../attention/floor.ts';
import { childFloor } from '../effect/child-effects.ts';
import type { EffectDeps } from '../effect/deliver.ts';
import { statusEvents } from '../effect/status-events.ts';
import type { ExecutionDeps } from '../execution/step/deps.ts';
import { together } from '../execution/upper-floors.ts';
import { ticketFloor } from '../router/ticket/floor.ts';
import { scheduleFloor } from '../schedule/floor.ts';
import { usageFloor } from '../usage/floor.ts';
import { clock, effects, fires, ids, log, metrics, once, steps, table } from './core.ts';
import { models } from './models.ts';

/** What the clock and the dead letters need: no model, no tools, no bucket. */
export const executionDeps = once((): ExecutionDeps & Pick<EffectDeps, 'effects'> => ({
  table: table(),
  steps: steps(),
  effects: effects(),
  clock,
  log,
  metrics,
  upper: together([
    statusEvents({ effects: effects(), log }),
    childFloor({ effects: effects(), log }),
    ticketFloor({ effects: effects(), log }),
    attentionFloor,
    usageFloor({ table: table() }),
    scheduleFloor({ fires, log }),
  ]),
}));

export const startDeps = once(() => ({ ...executionDeps(), ids, resolveModel: models() }));
