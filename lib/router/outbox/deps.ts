import type { Clock, Log, Queue } from '../../kernel/ports.ts';
import type { Table } from '../../kernel/table.ts';
import type { Provider } from '../channel.ts';
import type { Verb } from '../mandate/mandate.ts';
import type { PostingMessage } from '../message.ts';
import type { VersionedPolicy } from '../policy/policy.ts';
import type { Source } from '../source/source.ts';

/** What the clock, the dead letters and people need of the outbox. */
export interface PostingDeps {
  readonly table: Table;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly postings: Queue<PostingMessage>;
}

/**
 * Asks a provider in a source's name, with the rights that `needs` says and no more. Reads the source's secrets, so it may
 * fail; nothing has been sent then.
 */
export type ProviderFor = (
  source: Source,
  needs: {
    readonly verb: Verb;
    readonly repositoryId?: string | undefined;
    readonly until?: number | undefined;
  },
) => Promise<Provider>;

export interface OutboxDeps extends PostingDeps {
  readonly provider: ProviderFor;
  /** Strongly read. */
  readonly policyOf: (orgId: string) => Promise<VersionedPolicy>;
  /** A name that nobody else has, for one attempt. */
  readonly newOwner: () => string;
  /** 0 to 1. */
  readonly random: () => number;
}
