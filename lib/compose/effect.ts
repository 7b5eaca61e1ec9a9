import { makeBus } from '../aws/bus.ts';
import { eventBridge } from '../aws/clients.ts';
import type { EffectDeps } from '../effect/deliver.ts';
import { ENV } from '../names.ts';
import { clock, effects, env, log, once, table } from './core.ts';

export const effectDeps = once(
  (): EffectDeps => ({
    table: table(),
    clock,
    log,
    effects: effects(),
    bus: makeBus({ client: eventBridge(), busName: env(ENV.bus) }),
  }),
);
