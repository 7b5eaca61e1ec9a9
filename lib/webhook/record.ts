/** What an attempt leaves in the row of its delivery. */
import { ifAllStill, ifStill } from '../kernel/if-still.ts';
import { keys } from '../kernel/keys.ts';
import {
  add,
  and,
  type Change,
  type Condition,
  ConditionFailed,
  eq,
  missing,
  remove,
  set,
  type Table,
  TransactionRefused,
  type Write,
} from '../kernel/table.ts';
import { TABLE } from '../names.ts';
import type { Outcome } from './attempt.ts';
import { DELIVERY_VERSION, type Delivery, keptUntil, TRIED_FOR_MS } from './delivery.ts';
import { backoffMs, dropMark, setMark, waitMark } from './timing.ts';

const keyOf = ({ orgId, webhookId, deliveryId }: Delivery) => keys.webhookDelivery(orgId, webhookId, deliveryId);
const heldKeyOf = ({ orgId, webhookId, deliveryId }: Delivery) => keys.webhookHeld(orgId, webhookId, deliveryId);
const pending: Condition = and(eq('v', DELIVERY_VERSION), eq('state', 'pending'));

/** Where there is nothing, the older one goes: what is shown belongs to the last attempt. */
const put = (path: string, value: string | number | undefined): Change =>
  value === undefined || value === '' ? remove(path) : set(path, value);

const tried = (outcome: Outcome): readonly Change[] => [
  add('attempts', 1),
  set('lastAttemptAt', outcome.at),
  put('lastStatus', outcome.status),
  put('lastError', outcome.error),
  put('excerpt', outcome.excerpt),
];

/** The row comes to rest; whatever held it back forgets it. */
const settle = async (table: Table, delivery: Delivery, changes: readonly Change[], now: number): Promise<void> => {
  const update = {
    update: keyOf(delivery),
    changes: [...changes, remove('held'), remove('nextAt'), ...dropMark, set(TABLE.ttl, keptUntil(now))],
    if: pending,
  };
  await (delivery.held === true
    ? ifAllStill(table, [update, { delete: heldKeyOf(delivery) }])
    : ifStill(() => table.update(update.update, update.changes, update.if)));
};

export const recordSuccess = (table: Table, delivery: Delivery, outcome: Outcome): Promise<void> =>
  settle(table, delivery, [...tried(outcome), set('state', 'delivered'), set('deliveredAt', outcome.at)], outcome.at);

/** Given up; kept, where people find it and can have it sent once more. */
export const bury = (table: Table, delivery: Delivery, why: string, now: number): Promise<void> =>
  settle(table, delivery, [set('state', 'dead'), set('lastError', why)], now);

/** True when a delivery has been tried for a day. */
export const isOver = (delivery: Delivery, now: number): boolean => now >= delivery.triedSince + TRIED_FOR_MS;

export type Failed =
  | { readonly kind: 'over' }
  /** To be woken then. */
  | { readonly kind: 'later'; readonly atMs: number }
  /** The gate looks after it. */
  | { readonly kind: 'held' };

/**
 * @param open whether the gate is open: then the delivery waits behind it, without a mark or message
 */
export const recordFailure = async (
  table: Table,
  delivery: Delivery,
  outcome: Outcome,
  open: boolean,
  random: number,
): Promise<Failed> => {
  const now = outcome.at;
  if (isOver(delivery, now)) {
    await settle(table, delivery, [...tried(outcome), set('state', 'dead')], now);
    return { kind: 'over' };
  }
  // Behind the gate already: whoever lets it go marks and wakes it.
  const stay = async (): Promise<Failed> => {
    await ifStill(() => table.update(keyOf(delivery), tried(outcome), pending));
    return { kind: 'held' };
  };
  if (delivery.held === true) return stay();
  if (open && (await hold(table, delivery, now, tried(outcome)))) return { kind: 'held' };
  const end = delivery.triedSince + TRIED_FOR_MS;
  const nextAt = Math.min(end, now + backoffMs(delivery.attempts + 1, random));
  const changes = [...tried(outcome), set('nextAt', nextAt), ...setMark(waitMark(delivery.deliveryId, nextAt, now))];
  try {
    await table.update(keyOf(delivery), changes, and(pending, missing('held')));
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    // A second message found the gate open and held it back.
    return error.item?.held === true ? stay() : { kind: 'over' };
  }
  return { kind: 'later', atMs: nextAt };
};

/**
 * Puts a delivery behind the open gate, where it costs nothing. One transaction with the gate's being open, so that nothing is
 * put there after what waits has been let go.
 * @returns false when the gate is closed by now
 */
export const hold = async (
  table: Table,
  delivery: Delivery,
  now: number,
  changes: readonly Change[] = [],
): Promise<boolean> => {
  const { orgId, webhookId, deliveryId } = delivery;
  const writes: Write[] = [
    {
      update: keyOf(delivery),
      changes: [...changes, set('held', true), remove('nextAt'), ...dropMark],
      if: and(pending, missing('held')),
    },
    { put: { ...heldKeyOf(delivery), v: DELIVERY_VERSION, orgId, deliveryId, [TABLE.ttl]: keptUntil(now) } },
    { check: keys.webhookGate(orgId, webhookId), if: eq('open', true) },
  ];
  try {
    await table.transact(writes);
    return true;
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error;
    // Held, delivered or given up by somebody else: nothing is left to be done here either.
    return error.refused[0] === true;
  }
};

/** Lets one delivery go from behind the gate, to be attempted at `atMs`. @returns false when it needs no message */
export const letDeliveryGo = async (table: Table, delivery: Delivery, atMs: number, now: number): Promise<boolean> =>
  ifAllStill(table, [
    {
      update: keyOf(delivery),
      changes: [remove('held'), set('nextAt', atMs), ...setMark(waitMark(delivery.deliveryId, atMs, now))],
      if: and(pending, eq('held', true)),
    },
    { delete: heldKeyOf(delivery) },
  ]);
