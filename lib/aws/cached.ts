import type { Clock, Secrets } from '../kernel/ports.ts';

/** A key that was just stored must be found soon, also by a process that looked before; so "none" is believed shortly. */
const NONE_TTL_MS = 30_000;
/** Bounds the memory of a long-lived process that serves many organisations. */
const MOST_ENTRIES = 1000;

interface Entry {
  readonly value: Promise<string | undefined>;
  until: number;
}

export interface CachedSecrets extends Secrets {
  /** Reads afresh next time: when a value was just refused, as another process may have replaced it. */
  forgetAll(): void;
}

/**
 * Remembers secrets in this process, "none" included. A change through this object is seen at once; a change made
 * elsewhere after `ttlMs` at the latest. Simultaneous reads of one name share a request; a failed read is not kept.
 * @param ttlMs how long a value is believed, ms
 */
export const cachedSecrets = (secrets: Secrets, clock: Pick<Clock, 'now'>, ttlMs = 300_000): CachedSecrets => {
  const entries = new Map<string, Entry>();

  const read = async (name: string, entry: Entry): Promise<string | undefined> => {
    try {
      const value = await entry.value;
      entry.until = clock.now() + (value === undefined ? Math.min(NONE_TTL_MS, ttlMs) : ttlMs);
      return value;
    } catch (error) {
      if (entries.get(name) === entry) entries.delete(name);
      throw error;
    }
  };

  /** Forgets before and after: a read that began during the write may hold the old value, and a failed write may have worked. */
  const changing = async (name: string, change: () => Promise<void>): Promise<void> => {
    entries.delete(name);
    try {
      await change();
    } finally {
      entries.delete(name);
    }
  };

  return {
    async get(name) {
      const known = entries.get(name);
      if (known !== undefined && clock.now() < known.until) return known.value;
      const entry: Entry = { value: secrets.get(name), until: Number.POSITIVE_INFINITY }; // pending: shared by whoever asks
      entries.delete(name); // so that a renewed name is the youngest in the map's order
      entries.set(name, entry);
      const oldest = entries.keys().next().value;
      if (entries.size > MOST_ENTRIES && oldest !== undefined) entries.delete(oldest);
      return read(name, entry);
    },
    put: (name, value) => changing(name, () => secrets.put(name, value)),
    delete: (name) => changing(name, () => secrets.delete(name)),
    forgetAll() {
      entries.clear();
    },
  };
};
