import type { Item, Key } from '../../kernel/table.ts';

/**
 * Rows that one process has read and need not read again: a run's pinned configuration, a stored summary. A memory for
 * what nothing ever updates or deletes, and for nothing else.
 */
export interface RowMemory {
  get(key: Key): Item | undefined;
  keep(item: Item): void;
}

/** Characters of JSON in all, two bytes each at most: a small part of the step function's memory. */
const MOST_CHARACTERS = 4_000_000;

/** Lets go of what was not asked for the longest. */
export const makeRowMemory = (mostCharacters = MOST_CHARACTERS): RowMemory => {
  const rows = new Map<string, { readonly item: Item; readonly size: number }>();
  let held = 0;
  const nameOf = ({ pk, sk }: Key): string => `${pk} ${sk}`;
  const forget = (name: string): void => {
    held -= rows.get(name)?.size ?? 0;
    rows.delete(name);
  };
  return {
    get(key) {
      const name = nameOf(key);
      const known = rows.get(name);
      if (known === undefined) return undefined;
      // A map keeps its order of insertion: the newest is last.
      rows.delete(name);
      rows.set(name, known);
      return known.item;
    },
    keep(item) {
      const name = nameOf(item);
      const size = JSON.stringify(item).length;
      forget(name);
      if (size > mostCharacters) return;
      rows.set(name, { item, size });
      held += size;
      for (const oldest of rows.keys()) {
        if (held <= mostCharacters) return;
        forget(oldest);
      }
    },
  };
};
