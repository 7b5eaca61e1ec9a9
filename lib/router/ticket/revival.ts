/** The look before an ended ticket is revived (spec 4.3, 12.2): deterministic, without a model and without new authority. */
import type { Table } from '../../kernel/table.ts';
import type { Source } from '../source/source.ts';
import { findThread } from '../thread/find.ts';
import type { Thread } from '../thread/thread.ts';
import type { Revival } from './give.ts';
import type { Ticket } from './ticket.ts';

/**
 * Whether what the mandate was for is still there. A source that is only away refuses for now; one that is gone, like a
 * repository or a discussion that is gone, takes the mandate along.
 */
export const judgeRevival = (
  ticket: Pick<Ticket, 'mandate'>,
  source: Pick<Source, 'state' | 'repositories'> | undefined,
  thread: Pick<Thread, 'subject'> | undefined,
): Revival => {
  if (source === undefined || source.state === 'gone' || thread?.subject?.state === 'gone') return 'revoke';
  const { repositoryId } = ticket.mandate;
  const listed = repositoryId === undefined || source.repositories === undefined;
  if (!listed && !source.repositories?.some(({ id }) => id === repositoryId)) return 'revoke';
  return source.state === 'active' ? 'yes' : 'no';
};

/** Of a message in a Thread; who sent it was judged by the Gate. */
export const lookBeforeRevival =
  (table: Table, orgId: string, threadId: string, source: Source | undefined) =>
  async (ticket: Ticket): Promise<Revival> =>
    judgeRevival(ticket, source, await findThread(table, orgId, threadId));
