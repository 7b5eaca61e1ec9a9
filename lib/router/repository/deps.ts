import type { Clock, Log } from '../../kernel/ports.ts';
import type { Table } from '../../kernel/table.ts';
import type { Tool } from '../../tools/tool.ts';
import type { ProviderFor } from '../outbox/deps.ts';

/** What reads a ticket's repository. */
export interface RepositoryDeps {
  readonly table: Table;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly provider: ProviderFor;
}

/** What all readings are: words from outside, harmless to repeat. */
export const READING: Pick<Tool, 'named' | 'outside' | 'effect' | 'timeoutSeconds'> = {
  named: true,
  outside: true,
  effect: () => 'none',
  timeoutSeconds: 60,
};
