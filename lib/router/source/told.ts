import { closeAttention, openAttention } from '../../attention/attention.ts';
import { conflict } from '../../kernel/errors.ts';
import { ifAllStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import { and, eq, type Item, type Table, type Value, type Write } from '../../kernel/table.ts';
import { makeRow, ROW_VERSION } from '../../tenancy/row.ts';
import { findSource } from './find.ts';
import type { Source } from './source.ts';

/** What a provider says of a source, by an event or by refusing to serve it. */
export interface Tidings {
  /** Milliseconds since the epoch; tidings that are older than those known change no state. */
  readonly at: number;
  readonly state?: 'active' | 'suspended' | 'gone';
  readonly reason?: string;
  readonly renamed?: { readonly id: string; readonly fullName: string };
  readonly removed?: readonly string[];
}

const TRIES = 4;

/**
 * Takes tidings over, once: the row and its one attention item change in one transaction, and only when the state does. A
 * source that a person paused stays paused.
 * @returns true when the row changed
 * @throws AppError 409 when others change the source all the time: it comes again
 */
export const tellSource = async (
  table: Table,
  orgId: string,
  sourceId: string,
  tidings: Tidings,
  now: number,
): Promise<boolean> => {
  for (let left = TRIES; left > 0; left--) {
    const source = await findSource(table, orgId, sourceId);
    const next = source && after(source, tidings, now);
    if (source === undefined || next === undefined) return false;
    if (await ifAllStill(table, [{ put: sourceItem(next), if: asSeen(source) }, ...attention(source, next)]))
      return true;
  }
  throw conflict('changed_meanwhile', 'The source is being changed by others.');
};

/** Without members that are `undefined`, however deep: the table never stores those. */
const plain = (source: Source): { readonly [name: string]: Value } =>
  JSON.parse(JSON.stringify(source)) as { readonly [name: string]: Value };

export const sourceItem = (source: Source): Item => makeRow(keys.source(source.orgId, source.id), plain(source));

/** The row as it was read: nobody has changed it since. */
export const asSeen = (source: Source) =>
  and(
    eq('v', ROW_VERSION),
    eq('secretRef', source.secretRef),
    eq('updatedAt', source.updatedAt),
    eq('state', source.state),
  );

/** The row with the tidings, or `undefined` when they change nothing. Pure. */
export const after = (source: Source, tidings: Tidings, now: number): Source | undefined => {
  const repositories = repositoriesAfter(source.repositories, tidings);
  const state = stateAfter(source, tidings);
  if (state === source && repositories === source.repositories) return undefined;
  return {
    ...state,
    ...(repositories !== undefined && { repositories }),
    updatedAt: later(source.updatedAt, now),
  };
};

/** Two changes within a millisecond must not look like one. */
export const later = (updatedAt: string, now: number): string =>
  new Date(Math.max(now, Date.parse(updatedAt) + 1)).toISOString();

const stateAfter = (source: Source, { at, state, reason }: Tidings): Source => {
  const { toldAt = 0 } = source;
  if (state === undefined || source.state === 'paused' || at < toldAt) return source;
  // Its time is noted, so that an older change which comes late changes nothing.
  if (state === source.state) return at === toldAt ? source : { ...source, toldAt: at };
  const { reason: _, stoppedAt: __, ...kept } = source;
  if (state === 'active') return { ...kept, state, toldAt: at };
  return { ...kept, state, toldAt: at, stoppedAt: at, ...(reason !== undefined && { reason }) };
};

const repositoriesAfter = (
  repositories: Source['repositories'],
  { renamed, removed = [] }: Tidings,
): Source['repositories'] => {
  if (repositories === undefined) return undefined;
  const known = renamed && repositories.find(({ id }) => id === renamed.id);
  const renames = known !== undefined && known.fullName !== renamed?.fullName;
  if (!renames && !repositories.some(({ id }) => removed.includes(id))) return repositories;
  return repositories
    .filter(({ id }) => !removed.includes(id))
    .map((repository) => (renamed !== undefined && repository.id === renamed.id ? renamed : repository));
};

const causeOf = ({ orgId, id, stoppedAt }: Source) => ({
  orgId,
  kind: 'source_stopped' as const,
  subject: { type: 'source', id },
  at: stoppedAt ?? 0,
});

/** True while the provider, and nobody here, has stopped it. */
const stopped = ({ state }: Source): boolean => state === 'suspended' || state === 'gone';

/** For the transaction that changes the state, or deletes the source: at most one item is open for it. */
export const attention = (source: Source, next: Source | undefined): readonly Write[] => {
  if (next !== undefined && next.state === source.state) return [];
  // Opened anew under the time of before it is the same item.
  const same = next !== undefined && stopped(next) && next.stoppedAt === source.stoppedAt;
  return [
    ...(stopped(source) && !same ? [closeAttention(causeOf(source))] : []),
    ...(next !== undefined && stopped(next)
      ? [
          openAttention({
            ...causeOf(next),
            question: `The source ${next.name} was stopped by its provider. ${next.reason ?? ''} Is it to be given access again?`,
            url: `/v1/sources/${next.id}`,
            actions: [
              { label: 'Test', method: 'POST', path: `/v1/sources/${next.id}/test` },
              { label: 'Go on', method: 'PATCH', path: `/v1/sources/${next.id}`, body: { state: 'active' } },
              { label: 'Delete', method: 'DELETE', path: `/v1/sources/${next.id}` },
            ],
          }),
        ]
      : []),
  ];
};
