import type { QueueStore } from './queue-store.ts';
import type { Waiters } from './waiters.ts';

/** What the operations work on. */
export interface QueueContext {
  readonly store: QueueStore;
  readonly waiters: Waiters;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** URL of a queue, by name. */
  readonly urlOf: (name: string) => string;
}
