import type { Ids } from '../../kernel/ids.ts';
import type { Clock, Log, Queue } from '../../kernel/ports.ts';
import type { Table } from '../../kernel/table.ts';
import type { AssessMessage } from '../message.ts';
import type { Source } from '../source/source.ts';
import type { Desk } from './desk.ts';

/** What every use case of a Thread touches. */
export interface ThreadDeps {
  readonly table: Table;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Wakes the Eval of a Thread. */
  readonly assess: Queue<AssessMessage>;
  readonly desk: Desk;
  /** Whether a text names us in that source; each kind of channel has its own way of naming. */
  readonly names: (text: string, source: Source) => boolean;
}

export const wakeEval = (
  { assess }: Pick<ThreadDeps, 'assess'>,
  { orgId, threadId }: AssessMessage,
  delaySeconds: number = 0,
): Promise<void> => assess.send({ orgId, threadId }, { delaySeconds, tenant: orgId });
