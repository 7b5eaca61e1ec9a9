/** Why a run that waits for its children does not go on by itself: one of them stands until a person acts. */
import { keys } from '../../kernel/keys.ts';
import type { Table } from '../../kernel/table.ts';
import { type Execution, readExecution } from '../execution.ts';
import { type NeedsPerson, nowOf } from '../now.ts';
import { isTerminal } from '../status.ts';
import type { ChildRow } from './child-row.ts';
import { childRows } from './list-children.ts';

const PEOPLE = ['person', 'permission', 'input'];

const waitsForRuns = ({ status, pausedFrom, waitUntil, openChildren }: Execution): boolean =>
  (status === 'WAIT_STEP' || (status === 'PAUSED' && pausedFrom === 'WAIT_STEP')) &&
  waitUntil === undefined &&
  openChildren > 0;

/**
 * The children, and theirs, that stand until a person acts. Read only when somebody looks at a run that waits for runs: one
 * read for each level, of at most as many runs as may be open below one.
 * @param rows of its children, as `childRows` gives them
 */
export const needPerson = async (
  table: Table,
  execution: Execution,
  rows: readonly ChildRow[] | undefined,
  now: number,
): Promise<readonly NeedsPerson[]> => {
  if (rows === undefined || !waitsForRuns(execution)) return [];
  const { orgId } = execution;
  const open = rows.filter(({ state }) => state === 'open').map((row) => keys.execution(orgId, row.executionId));
  const items = open.length === 0 ? [] : await table.getMany(open);
  const children = items.flatMap((item) => (item === undefined ? [] : [readExecution(item)]));
  const found = await Promise.all(
    children
      .filter(({ status }) => !isTerminal(status))
      .map(async (child): Promise<readonly NeedsPerson[]> => {
        const doing = nowOf(child, now);
        if (doing !== undefined && PEOPLE.includes(doing.waitingOn?.kind ?? '')) {
          return [{ executionId: child.executionId, sentence: doing.sentence }];
        }
        return needPerson(table, child, await childRows(table, child), now);
      }),
  );
  return found.flat();
};
