/** The Thread's part of a transaction that stores something in it: it is made if it is missing, else it moves. */
import { keys, owner } from '../../kernel/keys.ts';
import { add, and, type Change, type Condition, eq, missing, set, type Write } from '../../kernel/table.ts';
import { makeRow, ROW_VERSION } from '../../tenancy/row.ts';
import { slice } from '../points.ts';
import type { Known } from './find.ts';
import { aliasItem, asValue, threadAlias } from './rows.ts';
import type { NewThread, Thread } from './thread.ts';

export interface Place {
  readonly orgId: string;
  readonly sourceId: string;
  readonly threadId: string;
  /** As the provider names it now. */
  readonly named: NewThread;
  readonly now: number;
}

const LONGEST_TITLE = 500; // code points
/** A transaction holds 100 writes. */
const MOST_ALIASES = 20;

/** No ticket has subscribed or left, and nobody has said stop, since the Thread was read. */
export const isVersion = ({ subscriptions }: Pick<Thread, 'subscriptions'>): Condition =>
  and(eq('v', ROW_VERSION), eq('subscriptions', subscriptions));

/**
 * Refused when the Thread was made meanwhile, or the version of its subscriptions moved. `changes` come on top; of a new
 * Thread they are applied to a row that has none of those attributes yet. `only` guards one that is there.
 */
export const threadWrites = (
  known: Known,
  place: Place,
  changes: readonly Change[],
  only?: Condition,
): readonly Write[] => {
  const { orgId, sourceId, threadId, named, now } = place;
  const aliases = known.unknownKeys.slice(0, MOST_ALIASES).map(
    (key): Write => ({
      put: aliasItem(threadAlias(orgId, sourceId, key), { threadId }),
      if: missing('pk'),
    }),
  );
  const title = slice(named.title, 0, LONGEST_TITLE).text;
  if (known.thread === undefined) {
    const item = makeRow(keys.thread(orgId, threadId), {
      id: threadId,
      orgId,
      sourceId,
      key: named.key,
      title,
      url: named.url,
      repositoryId: named.repositoryId,
      replyTo: asValue(named.replyTo),
      dirty: 0,
      epoch: 0,
      subscriptions: 0,
      createdAt: now,
      updatedAt: now,
      ownerPk: owner.threads(orgId),
      ownerSk: threadId,
    });
    return [{ put: { ...item, ...applied(changes) }, if: missing('pk') }, ...aliases];
  }
  const renamed = title === known.thread.title ? [] : [set('title', title)];
  return [
    {
      update: keys.thread(orgId, threadId),
      changes: [set('updatedAt', now), ...renamed, ...changes],
      if: only === undefined ? isVersion(known.thread) : and(isVersion(known.thread), only),
    },
    ...aliases,
  ];
};

/** What changes make of attributes that are missing or 0. */
const applied = (changes: readonly Change[]) =>
  Object.fromEntries(
    changes.flatMap((change) => (change.do === 'set' || change.do === 'add' ? [[change.path, change.value]] : [])),
  );

/**
 * The Thread's own part of a subscription: the mirror of its SUBSCRIPTION rows, and a new version, under which everything
 * that is pending is routed anew. Refused when the list was changed meanwhile.
 */
export const subscriptionWrite = (thread: Thread, tickets: readonly string[], now: number): Write => ({
  update: keys.thread(thread.orgId, thread.id),
  changes: [set('tickets', [...tickets]), add('subscriptions', 1), set('updatedAt', now)],
  if: isVersion(thread),
});
