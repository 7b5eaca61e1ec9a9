import { ifAllStill } from '../../kernel/if-still.ts';
import { lt, missing, or, set } from '../../kernel/table.ts';
import { BUSY, MAX_TRIES } from './busy.ts';
import type { ThreadDeps } from './deps.ts';
import { lookUp } from './find.ts';
import type { NewThread, Thread } from './thread.ts';
import { threadWrites } from './thread-writes.ts';

type Subject = NonNullable<Thread['subject']>;

export interface NewSubject {
  readonly sourceId: string;
  readonly thread: NewThread;
  readonly state: Subject['state'];
  /** When it came to be so, ms since the epoch. */
  readonly at: number;
}

/** Of two states of one moment the more final one stands: a provider's times are whole seconds. */
const FINALITY: readonly Subject['state'][] = ['open', 'closed', 'merged', 'gone'];

/** One number that rises with what is told later, for a guard of the table. */
const rankOf = ({ state, at }: Subject): number => at * FINALITY.length + FINALITY.indexOf(state);

/**
 * Notes the state of what is discussed; an older state that comes late changes nothing. The Thread is made if it is not
 * known yet.
 * @returns the Thread's id
 * @throws Error when others changed the Thread each time that it was read
 */
export const setSubject = async (
  deps: Pick<ThreadDeps, 'table' | 'clock' | 'ids'>,
  orgId: string,
  { sourceId, thread: named, state, at }: NewSubject,
): Promise<string> => {
  const rank = rankOf({ state, at });
  const threadKeys = [named.key, ...(named.aliases ?? [])];
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const known = await lookUp(deps.table, { orgId, sourceId, threadKeys });
    const seen = known.thread?.subject;
    if (known.thread !== undefined && seen !== undefined && rankOf(seen) >= rank) return known.thread.id;
    const now = deps.clock.now();
    const threadId = known.thread?.id ?? deps.ids.next('thr', now);
    const place = { orgId, sourceId, threadId, named, now };
    const changes = [set('subject', { state, at }), set('subjectRank', rank)];
    const newer = or(missing('subjectRank'), lt('subjectRank', rank));
    if (await ifAllStill(deps.table, threadWrites(known, place, changes, newer))) return threadId;
  }
  throw new Error(BUSY);
};
