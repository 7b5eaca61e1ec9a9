import { ifStill } from '../kernel/if-still.ts';
import { due, keys } from '../kernel/keys.ts';
import type { Bus, Clock, Log, Queue } from '../kernel/ports.ts';
import { and, eq, type Item, ne, remove, set, type Table } from '../kernel/table.ts';
import { TABLE } from '../names.ts';
import {
  EFFECT_STALL_MS,
  EFFECT_VERSION,
  type Effect,
  type EffectMessage,
  parseEffectPk,
  readEffect,
} from './effect.ts';

export interface EffectDeps {
  readonly table: Table;
  readonly clock: Clock;
  readonly log: Log;
  /** Where an effect goes, by its kind. It may be called again for the same effect. */
  readonly outlets: { readonly [kind in Effect['kind']]: Outlet };
  readonly effects: Queue<EffectMessage>;
}

/** @throws when the effect is not out, or not all of it: it comes again */
export type Outlet = (effect: Effect) => Promise<void>;

/** Receivers know a repeat by the `id` in the detail. */
export const busOutlet =
  (bus: Bus): Outlet =>
  async ({ effectId, detailType, detail }) => {
    const members = JSON.parse(detail) as { readonly [key: string]: unknown };
    await bus.publish({ detailType, detail: { id: effectId, ...members } });
  };

/** All are tried, whatever one of them says, so that none waits for another to be well. */
export const toAll =
  (outlets: readonly Outlet[]): Outlet =>
  async (effect) => {
    const results = await Promise.allSettled(outlets.map((outlet) => outlet(effect)));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  };

/** What never leaves the system. */
const INSIDE: readonly Effect['kind'][] = ['child', 'ticket'];

/** Rows of what was sent are kept this long. */
const KEPT_SECONDS = 7 * 86_400;
const FIRST_RETRY_SECONDS = 2;
const LONGEST_RETRY_SECONDS = 900;

/** Visibility of a message whose effect failed, by how often it was received: 2 s, doubling. */
export const retrySeconds = (receiveCount: number): number =>
  Math.min(LONGEST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2 ** Math.max(0, receiveCount - 1));

/**
 * Sends one effect. A crash between the sending and its mark sends it again: the outlets' receivers know a repeat.
 * @throws whatever its outlet says: the message stays and comes back later
 */
export const deliverEffect = async (deps: EffectDeps, message: EffectMessage): Promise<void> => {
  const [item, organisation] = await Promise.all([
    deps.table.get(keys.effect(message.orgId, message.effectId), { consistent: true }),
    deps.table.get(keys.organisation(message.orgId)),
  ]);
  if (item === undefined) return;
  const effect = readEffect(item);
  if (effect.state !== 'pending') return;
  // Somebody holds the whole organisation; its mark brings the effect back. What stays among its own rows leaves nothing.
  if (organisation?.stopped !== undefined && !INSIDE.includes(effect.kind)) return;
  await deps.outlets[effect.kind](effect);
  const now = deps.clock.now();
  await ifStill(() =>
    deps.table.update(
      { pk: item.pk, sk: item.sk },
      [
        set('state', 'sent'),
        set('sentAt', now),
        set(TABLE.ttl, Math.floor(now / 1000) + KEPT_SECONDS),
        remove('duePk'),
        remove('dueSk'),
      ],
      eq('state', 'pending'),
    ),
  );
};

/** The queue gave up: kept as `dead`, where people find it. */
export const buryEffect = async (deps: Pick<EffectDeps, 'table' | 'log'>, message: EffectMessage): Promise<void> => {
  deps.log.error('An effect could not be sent.', { effectId: message.effectId });
  await ifStill(() =>
    deps.table.update(
      keys.effect(message.orgId, message.effectId),
      [set('state', 'dead'), remove('duePk'), remove('dueSk')],
      // A run waits for the end of its child, and a place for the end of a turn, as long as it takes: the sweep goes on
      // sending it.
      and(eq('v', EFFECT_VERSION), eq('state', 'pending'), ...INSIDE.map((kind) => ne('kind', kind))),
    ),
  );
};

/** Sends again what nobody has sent: first its mark moves, conditionally, then the message goes out. */
export const sweepEffect = async (
  deps: Pick<EffectDeps, 'table' | 'clock' | 'effects'>,
  found: Item,
): Promise<void> => {
  const message = parseEffectPk(found.pk);
  if (message === undefined || typeof found.dueSk !== 'string') return;
  const mark = due.sk(deps.clock.now() + EFFECT_STALL_MS, message.effectId);
  const moved = await ifStill(() =>
    deps.table.update(
      { pk: found.pk, sk: found.sk },
      [set('dueSk', mark)],
      and(eq('v', EFFECT_VERSION), eq('state', 'pending'), eq('dueSk', String(found.dueSk))),
    ),
  );
  if (moved) await deps.effects.send(message, { delaySeconds: 0, tenant: message.orgId });
};
