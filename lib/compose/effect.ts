import { makeBus } from '../aws/bus.ts';
import { eventBridge } from '../aws/clients.ts';
import { childOutlet } from '../effect/child-effects.ts';
import { busOutlet, type EffectDeps, toAll } from '../effect/deliver.ts';
import { ENV } from '../names.ts';
import { ticketOutlet } from '../router/ticket/outlet.ts';
import { booksFirst } from '../usage/floor.ts';
import { fanOut } from '../webhook/fan-out.ts';
import { clock, effects, env, log, once, table, webhooks } from './core.ts';
import { executionDeps } from './executions.ts';
import { ticketDeps } from './tickets.ts';

export const effectDeps = once((): EffectDeps => {
  const bus = makeBus({ client: eventBridge(), busName: env(ENV.bus) });
  const toWebhooks = (effect: Parameters<typeof fanOut>[1]) =>
    fanOut({ table: table(), clock, log, webhooks: webhooks() }, effect);
  return {
    table: table(),
    clock,
    log,
    effects: effects(),
    outlets: {
      bus: booksFirst({ table: table(), log }, toAll([busOutlet(bus), toWebhooks])),
      webhook: toWebhooks,
      child: childOutlet(executionDeps),
      ticket: ticketOutlet(ticketDeps),
    },
  };
});
