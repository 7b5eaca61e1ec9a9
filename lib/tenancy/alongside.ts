import type { Write } from '../kernel/table.ts';

/**
 * Further writes for the transaction that creates something, made from what is created as the caller will show it
 * (a record that remembers the first answer to an idempotency key). A use case puts them behind its own writes, and
 * rethrows `TransactionRefused` when only they were refused.
 */
export type Alongside<Created> = (created: Created) => readonly Write[];
