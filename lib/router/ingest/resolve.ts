import * as z from 'zod';
import { retrySeconds } from '../../effect/deliver.ts';
import { ifStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import type { Blobs, Clock } from '../../kernel/ports.ts';
import { and, eq, exists, remove, set, type Table, type Value } from '../../kernel/table.ts';
import type { Channels, Outcome, RawDelivery, Resolution } from '../channel.ts';
import { ProviderError } from '../channel.ts';
import type { InboxMessage } from '../message.ts';
import type { ProviderFor } from '../outbox/deps.ts';
import { readSource, type Source } from '../source/source.ts';
import { tellSource } from '../source/told.ts';
import type { NewEvent, StoredTrigger } from '../thread/store.ts';
import type { NewSubject } from '../thread/subject.ts';
import type { Withdrawal, Withdrawn } from '../thread/withdraw.ts';
import { type Delivery, readDelivery, type Verdict } from './delivery.ts';

/** The Threads' room, as far as deliveries reach into it. Each call may be repeated with the same arguments. */
export interface Threads {
  store(orgId: string, event: NewEvent): Promise<Pick<StoredTrigger, 'triggerId' | 'threadId'>>;
  withdraw(orgId: string, gone: Withdrawal): Promise<Withdrawn>;
  /** @returns the Thread's id */
  subject(orgId: string, subject: NewSubject): Promise<string>;
}

export interface ResolveDeps {
  readonly table: Table;
  readonly blobs: Blobs;
  readonly clock: Pick<Clock, 'now'>;
  readonly channels: Channels;
  readonly provider: ProviderFor;
  readonly threads: Threads;
}

/**
 * Makes of a delivery what it tells: Triggers, their edits and withdrawals, the state of what is discussed, of the source.
 * Every outcome is applied before the verdict is written, and each may be applied again: who dies in between is followed
 * by the next message, or by the sweep.
 * @throws ProviderError when the provider has to be asked and cannot be: the message comes back
 */
export const resolveDelivery = async (deps: ResolveDeps, message: InboxMessage): Promise<void> => {
  const { orgId, sourceId, deliveryId } = message;
  const [organisation, sourceItem, item] = await deps.table.getMany(
    [keys.organisation(orgId), keys.source(orgId, sourceId), keys.delivery(orgId, sourceId, deliveryId)],
    { consistent: true },
  );
  // Somebody holds the whole organisation; the marks bring everything back.
  if (item === undefined || organisation?.stopped !== undefined) return;
  const delivery = readDelivery(item);
  if (delivery.verdict !== 'received') return;
  const source = sourceItem && readSource(sourceItem);
  if (source === undefined) return dropped(deps, delivery, 'source_deleted', 'The source was deleted.');
  if (source.state === 'paused') return dropped(deps, delivery, 'source_paused', 'The source is paused.');
  const resolution = await read(deps, source, delivery);
  if (resolution.resolve === 'drop') return dropped(deps, delivery, resolution.code, resolution.message);
  if (resolution.resolve === 'failed') {
    const { code, message: why } = resolution;
    return finish(deps, delivery, 'failed', { reason: { code, message: why } });
  }
  const made = { triggerIds: new Set<string>(), threadIds: new Set<string>() };
  for (const outcome of resolution.outcomes) {
    const { triggerId, threadId } = await apply(deps, source, outcome);
    if (triggerId !== undefined) made.triggerIds.add(triggerId);
    if (threadId !== undefined) made.threadIds.add(threadId);
  }
  await finish(deps, delivery, 'resolved', { triggerIds: [...made.triggerIds], threadIds: [...made.threadIds] });
};

const dropped = (deps: ResolveDeps, delivery: Delivery, code: string, message: string): Promise<void> =>
  finish(deps, delivery, 'dropped', { reason: { code, message } });

type Read = Resolution | { readonly resolve: 'failed'; readonly code: string; readonly message: string };

const failed = (code: string, message: string): Read => ({ resolve: 'failed', code, message });

/** A body that does not read as its event promises will not read better next time; anything else may. */
const read = async (deps: ResolveDeps, source: Source, delivery: Delivery): Promise<Read> => {
  const channel = deps.channels[source.kind];
  if (channel === undefined) return failed('unreadable', `Nothing here reads events of ${source.kind}.`);
  const body = delivery.body === undefined ? undefined : await deps.blobs.get(delivery.body);
  if (body === undefined) return failed('body_missing', 'The body of the delivery is not there any more.');
  const raw: RawDelivery = { headers: delivery.headers, body };
  try {
    const received = { deliveryId: delivery.id, receivedAt: delivery.receivedAt };
    return await channel.resolve(raw, source, received, (repositoryId) =>
      deps.provider(source, { verb: 'read', repositoryId }),
    );
  } catch (error) {
    if (error instanceof z.ZodError) return failed('unreadable', 'It is not what the event promises.');
    if (!(error instanceof ProviderError)) throw error;
    if (error.kind === 'gone')
      return { resolve: 'drop', code: 'gone', message: `What it tells of is gone: ${error.message}` };
    if (error.kind === 'refused') return failed('refused', `The provider will not show it: ${error.message}`);
    throw error;
  }
};

type Applied = { readonly triggerId?: string | undefined; readonly threadId?: string | undefined };

const apply = async ({ threads, table, clock }: ResolveDeps, source: Source, outcome: Outcome): Promise<Applied> => {
  const { orgId, id: sourceId } = source;
  switch (outcome.make) {
    case 'trigger':
      return threads.store(orgId, outcome);
    case 'withdraw':
      return threads.withdraw(orgId, { ...outcome, sourceId });
    case 'subject':
      return { threadId: await threads.subject(orgId, { ...outcome, sourceId }) };
    case 'source':
      await tellSource(table, orgId, sourceId, outcome, clock.now());
      return {};
  }
};

const finish = async (
  deps: ResolveDeps,
  { orgId, sourceId, id }: Delivery,
  verdict: Verdict,
  more: Partial<Pick<Delivery, 'reason' | 'triggerIds' | 'threadIds'>>,
): Promise<void> => {
  const known = Object.entries({ ...more, handledAt: deps.clock.now() }).map(([name, value]) =>
    set(name, value as Value),
  );
  // Two copies of the message do the same work; the second finds the verdict written.
  await ifStill(() =>
    deps.table.update(
      keys.delivery(orgId, sourceId, id),
      [set('verdict', verdict), ...known, remove('duePk'), remove('dueSk')],
      and(exists('pk'), eq('verdict', 'received')),
    ),
  );
};

const LONGEST_RETRY_SECONDS = 900;

/** When a message comes back that failed: as a provider that is busy says, else later each time. @param receiveCount from 1 */
export const retryResolveSeconds = (error: unknown, receiveCount: number): number => {
  const asked = error instanceof ProviderError ? (error.retryAfterMs ?? 0) / 1000 : 0;
  return Math.min(LONGEST_RETRY_SECONDS, Math.max(retrySeconds(receiveCount), Math.ceil(asked)));
};
