import type { Store } from '../store/store.ts';

/** What every operation works with. */
export interface Context {
  readonly store: Store;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly region: string;
  readonly account: string;
}

/**
 * One operation of the protocol: the request's JSON in, the answer's JSON out.
 * @throws DynamoDbError for everything that is the client's mistake.
 */
export type Operation = (context: Context, body: unknown) => { [member: string]: unknown };
