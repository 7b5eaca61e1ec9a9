/** Which messages of a Thread a page shows, and how much of each (N1 and N3 to N5 of the spec; code points). */

import { keys, LAST } from '../../kernel/keys.ts';
import type { Table } from '../../kernel/table.ts';
import { readTrigger, type Trigger } from '../thread/trigger.ts';

/** N3: so many at the beginning of the Thread, and so many before and after what is to be decided. */
export const FIRST = 5;
export const AROUND = 5;
/** N1, N4, N5. */
export const LONGEST = { asked: 4_000, beside: 1_200, window: 400, stub: 50 } as const;
/** Stubs of what lies before the window; the rest is read by the id of the Thread. */
const MOST_STUBS = 25;

export type Part = keyof typeof LONGEST;

export interface Shown {
  readonly trigger: Trigger;
  readonly part: Part;
}

/**
 * Lays out messages that are sorted as they happened. Pure.
 * @param messages each asked one stands between its true neighbours
 * @param first how many of them are the first of the Thread
 */
export const layOut = (messages: readonly Trigger[], asked: ReadonlySet<string>, first: number): readonly Shown[] => {
  const places = messages.flatMap(({ id }, index) => (asked.has(id) ? [index] : []));
  const distance = (index: number): number => Math.min(...places.map((place) => Math.abs(place - index)));
  const partOf = (trigger: Trigger, index: number): Part => {
    if (asked.has(trigger.id)) return 'asked';
    if (distance(index) === 1) return 'beside';
    return distance(index) <= AROUND || index < first ? 'window' : 'stub';
  };
  return messages.map((trigger, index) => ({ trigger, part: partOf(trigger, index) }));
};

/** What is around the Triggers to be decided, strongly read. */
export const loadWindow = async (
  table: Table,
  orgId: string,
  threadId: string,
  batch: readonly Trigger[],
): Promise<{ readonly shown: readonly Shown[]; readonly more: boolean }> => {
  const { pk, prefix } = keys.triggers(orgId, threadId);
  const from = (query: { from?: string; to?: string; limit: number; newestFirst?: boolean }) =>
    table.query({ pk, from: prefix, to: `${prefix}${LAST}`, consistent: true, ...query });
  const earliest = batch.map(({ id }) => id).sort()[0] ?? '';
  const [beginning, before, ...around] = await Promise.all([
    from({ limit: FIRST }),
    from({ to: `${prefix}${earliest}`, newestFirst: true, limit: AROUND + MOST_STUBS + 1 }),
    ...batch.flatMap(({ id }) => [
      from({ to: `${prefix}${id}`, newestFirst: true, limit: AROUND + 1 }),
      from({ from: `${prefix}${id}`, limit: AROUND + 1 }),
    ]),
  ]);
  const first = (beginning?.items ?? []).map(readTrigger);
  const all = [first, ...[before, ...around].map((page) => (page?.items ?? []).map(readTrigger))].flat();
  // The batch as it was judged, not as it was read a moment later.
  const byId = new Map([...all, ...batch].map((trigger) => [trigger.id, trigger] as const));
  const messages = [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const shown = layOut(messages, new Set(batch.map(({ id }) => id)), first.length);
  return { shown, more: before?.next !== undefined };
};
