/** Rows of the inbox as they are written; `delivery.ts` reads them. */
import { createHash } from 'node:crypto';
import { keys } from '../../kernel/keys.ts';
import { type Item, missing, type Value, type Write } from '../../kernel/table.ts';
import { TABLE } from '../../names.ts';
import { makeRow } from '../../tenancy/row.ts';
import type { Source } from '../source/source.ts';
import { type Delivery, REMEMBERED_DAYS } from './delivery.ts';

const DAY_MS = 86_400_000;

/** Seconds since the epoch, as the table's time to live takes them. */
const forgottenAt = (now: number): number => Math.floor((now + REMEMBERED_DAYS * DAY_MS) / 1000);

export const deliveryItem = (delivery: Delivery): Item => {
  // No member of a delivery is undefined below the first level; the table never stores those of the first.
  const attributes = { ...delivery, [TABLE.ttl]: forgottenAt(delivery.receivedAt) } as {
    readonly [name: string]: Value | undefined;
  };
  return makeRow(keys.delivery(delivery.orgId, delivery.sourceId, delivery.id), attributes);
};

/** Whoever writes it first has seen the thing; everybody else's transaction is refused. */
export const seenWrite = ({ orgId, id }: Source, name: string, deliveryId: string, now: number): Write => ({
  put: makeRow(keys.seenDelivery(orgId, id, createHash('sha256').update(name).digest('hex')), {
    deliveryId,
    [TABLE.ttl]: forgottenAt(now),
  }),
  if: missing('pk'),
});
