/** What the clock and the dead letters do with deliveries that nobody has handled. */
import { ifStill } from '../../kernel/if-still.ts';
import { due, keys } from '../../kernel/keys.ts';
import type { Clock, Log, Queue } from '../../kernel/ports.ts';
import { add, and, eq, type Item, remove, set, type Table } from '../../kernel/table.ts';
import type { InboxMessage } from '../message.ts';
import { readDelivery } from './delivery.ts';
import { lookAgain } from './mark.ts';

/** A provider may be away for hours; a delivery that nobody could resolve for a day waits for a person. */
const GIVEN_UP_AFTER_MS = 86_400_000;

interface TendDeps {
  readonly table: Table;
  readonly clock: Pick<Clock, 'now'>;
  readonly inbox: Queue<InboxMessage>;
}

/** Ids out of the key of a source's delivery, as the index shows it. */
export const parseDeliveryKey = (pk: string, sk: string): InboxMessage | undefined => {
  const match = /^ORG#([^#]+)#SOURCE#([^#]+)$/.exec(pk);
  const deliveryId = sk.startsWith('DELIVERY#') ? sk.slice('DELIVERY#'.length) : '';
  return match?.[1] !== undefined && match[2] !== undefined && deliveryId !== ''
    ? { orgId: match[1], sourceId: match[2], deliveryId }
    : undefined;
};

/** For `sweep`: first the mark moves, conditionally and further each time, then the message goes out once more. */
export const sweepDelivery = async (deps: TendDeps, found: Item): Promise<void> => {
  const message = parseDeliveryKey(found.pk, found.sk);
  const now = deps.clock.now();
  if (message === undefined || typeof found.dueSk !== 'string' || due.at(found.dueSk) > now) return;
  const item = await deps.table.get({ pk: found.pk, sk: found.sk }, { consistent: true });
  // The index was behind: what it showed has come and gone.
  if (item === undefined || item.dueSk !== found.dueSk) return;
  const { attempts } = readDelivery(item);
  const { dueSk } = lookAgain(message.deliveryId, now, attempts + 1);
  const moved = await ifStill(() =>
    deps.table.update(
      { pk: found.pk, sk: found.sk },
      [set('dueSk', dueSk), add('attempts', 1)],
      and(eq('verdict', 'received'), eq('dueSk', String(found.dueSk))),
    ),
  );
  if (moved) await deps.inbox.send(message, { delaySeconds: 0, tenant: message.orgId });
};

/** The queue gave up on a message. For a day the mark brings the delivery back; then it is failed, for a person to see. */
export const buryDelivery = async (
  deps: Pick<TendDeps, 'table' | 'clock'> & { readonly log: Log },
  { orgId, sourceId, deliveryId }: InboxMessage,
): Promise<void> => {
  const key = keys.delivery(orgId, sourceId, deliveryId);
  const item = await deps.table.get(key, { consistent: true });
  if (item === undefined) return;
  const { verdict, receivedAt } = readDelivery(item);
  const now = deps.clock.now();
  if (verdict !== 'received' || now - receivedAt < GIVEN_UP_AFTER_MS) return;
  deps.log.error('A delivery could not be resolved.', { sourceId, deliveryId });
  const message = 'It could not be resolved for a day; the log of the resolve function says why.';
  await ifStill(() =>
    deps.table.update(
      key,
      [
        set('verdict', 'failed'),
        set('reason', { code: 'unresolved', message }),
        set('handledAt', now),
        remove('duePk'),
        remove('dueSk'),
      ],
      eq('verdict', 'received'),
    ),
  );
};
