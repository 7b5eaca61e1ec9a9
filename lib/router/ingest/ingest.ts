import { createHash } from 'node:crypto';
import { AppError, notFound } from '../../kernel/errors.ts';
import { type Ids, isId } from '../../kernel/ids.ts';
import { blobKeys } from '../../kernel/keys.ts';
import type { Blobs, Clock, Log, Queue, Secrets } from '../../kernel/ports.ts';
import { type Table, TransactionRefused } from '../../kernel/table.ts';
import type { Channel, Channels, RawDelivery, Sight } from '../channel.ts';
import type { InboxMessage } from '../message.ts';
import { findSource, organisationOf } from '../source/find.ts';
import { getSourceSecrets } from '../source/secrets.ts';
import type { Source } from '../source/source.ts';
import type { Delivery, Verdict } from './delivery.ts';
import { lookAgain } from './mark.ts';
import { countRefused } from './refused.ts';
import { deliveryItem, seenWrite } from './rows.ts';

export interface IngestDeps {
  readonly table: Table;
  readonly blobs: Blobs;
  readonly secrets: Secrets;
  readonly inbox: Queue<InboxMessage>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
  readonly log: Log;
  readonly channels: Channels;
}

/** What the provider is told: nobody has judged anything yet. */
export interface Ingested {
  readonly deliveryId: string;
  readonly verdict: Verdict;
  readonly reason?: Delivery['reason'];
}

/** Longer ones are cut: they are only looked at. */
const LONGEST_HEADER = 500;

/**
 * Takes one request of a provider: its signature is compared, the raw body and a row are stored, the resolver is woken. The
 * row carries a mark, so that a wake-up that is lost, or never sent because this died, costs minutes and no event.
 * @throws AppError 400 `unreadable_delivery`, 401 `bad_signature` (neither leaves an event), 404
 */
export const ingest = async (deps: IngestDeps, sourceId: string, raw: RawDelivery): Promise<Ingested> => {
  const orgId = isId('src', sourceId) ? await organisationOf(deps.table, sourceId) : undefined;
  const source = orgId === undefined ? undefined : await findSource(deps.table, orgId, sourceId);
  const channel = source && deps.channels[source.kind];
  if (source === undefined || channel === undefined) throw notFound('source');
  await demandSignature(deps, channel, source, raw);
  const sight = channel.look(raw, source);
  switch (sight.see) {
    case 'unreadable':
      throw new AppError(400, 'unreadable_delivery', sight.message);
    case 'drop':
      return drop(deps, source, raw, sight, { code: sight.code, message: sight.message });
    case 'keep':
      return source.state === 'paused'
        ? drop(deps, source, raw, sight, { code: 'source_paused', message: 'The source is paused.' })
        : keep(deps, channel, source, raw, sight);
  }
};

const demandSignature = async (deps: IngestDeps, channel: Channel, source: Source, raw: RawDelivery): Promise<void> => {
  const secrets = await getSourceSecrets(deps.secrets, source);
  const verified = channel.verify(raw, secrets ?? { signing: [] });
  if (verified.ok) return;
  await countRefused(deps.table, source, verified.code, deps.clock.now());
  throw new AppError(401, 'bad_signature', verified.message);
};

type Seen = Exclude<Sight, { readonly see: 'unreadable' }>;

const rowOf = (
  deps: IngestDeps,
  source: Source,
  raw: RawDelivery,
  { providerId, event, action }: Seen,
  verdict: Verdict,
): Delivery => {
  const now = deps.clock.now();
  return {
    id: deps.ids.next('dlv', now),
    orgId: source.orgId,
    sourceId: source.id,
    providerId: providerId.slice(0, LONGEST_HEADER),
    event: event.slice(0, LONGEST_HEADER),
    ...(action !== undefined && { action: action.slice(0, LONGEST_HEADER) }),
    verdict,
    bytes: raw.body.length,
    headers: {},
    triggerIds: [],
    threadIds: [],
    receivedAt: now,
    attempts: 0,
  };
};

/** A row for people and no memory of it: delivered again after a change of the source it may be of concern. */
const drop = async (
  deps: IngestDeps,
  source: Source,
  raw: RawDelivery,
  sight: Seen,
  reason: NonNullable<Delivery['reason']>,
): Promise<Ingested> => {
  const row: Delivery = { ...rowOf(deps, source, raw, sight, 'dropped'), reason, handledAt: deps.clock.now() };
  await deps.table.put(deliveryItem(row));
  return { deliveryId: row.id, verdict: 'dropped', reason };
};

const keep = async (
  deps: IngestDeps,
  channel: Channel,
  source: Source,
  raw: RawDelivery,
  sight: Extract<Sight, { see: 'keep' }>,
): Promise<Ingested> => {
  const row = rowOf(deps, source, raw, sight, 'received');
  const now = row.receivedAt;
  // Under the name of its content, so that all copies of a delivery are one object.
  const body = blobKeys.delivery(source.orgId, source.id, createHash('sha256').update(raw.body).digest('hex'));
  await deps.blobs.put(body, raw.body, 'application/octet-stream');
  const headers = Object.fromEntries(
    channel.keeps.flatMap((name) => {
      const value = raw.headers[name];
      return value === undefined ? [] : [[name, value.slice(0, LONGEST_HEADER)]];
    }),
  );
  const seen = [`delivery:${sight.providerId}`, ...(sight.same === undefined ? [] : [`object:${sight.same}`])];
  try {
    await deps.table.transact([
      { put: deliveryItem({ ...row, body, headers, ...lookAgain(row.id, now, 0) }) },
      ...seen.map((name) => seenWrite(source, name, row.id, now)),
    ]);
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error;
    return duplicate(deps, row, String(error.items.find((item) => item !== undefined)?.deliveryId ?? ''));
  }
  try {
    await deps.inbox.send(
      { orgId: source.orgId, sourceId: source.id, deliveryId: row.id },
      { delaySeconds: 0, tenant: source.orgId },
    );
  } catch (error) {
    // It is stored, so the provider must not be told that it failed: the mark brings it up.
    deps.log.error('A delivery could not wake the resolver; the sweep will.', { deliveryId: row.id, error });
  }
  return { deliveryId: row.id, verdict: 'received' };
};

/** Repeats are usual and no errors: providers deliver again what was answered late. */
const duplicate = async (deps: IngestDeps, row: Delivery, first: string): Promise<Ingested> => {
  const reason = { code: 'duplicate', message: `It was delivered before, as ${first}.` };
  await deps.table.put(deliveryItem({ ...row, verdict: 'duplicate', reason, handledAt: row.receivedAt }));
  return { deliveryId: row.id, verdict: 'duplicate', reason };
};
