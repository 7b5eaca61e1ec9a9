/** From what a client names to what Baton has. Another organisation's number names nothing, or something else of one's own. */
import { type AgentWithConfig, getAgent } from '../agent/agent.ts';
import { notFound } from '../kernel/errors.ts';
import { isId } from '../kernel/ids.ts';
import type { Table } from '../kernel/table.ts';
import { listProjects } from '../tenancy/project.ts';
import { idsOf, numbersOf } from './integer-ids.ts';

const NUMBER = /^[1-9]\d{0,14}$/;
const PAGE = 100;

/**
 * The agent of a path: by its number, or by Baton's own id, which is how one that was made elsewhere gets a number.
 * @throws AppError 404
 */
export const agentNamed = async (table: Table, orgId: string, given: string): Promise<AgentWithConfig> => {
  if (isId('agt', given)) return getAgent(table, orgId, given);
  const [id] = NUMBER.test(given) ? await idsOf(table, orgId, 'agt', [Number(given)]) : [];
  if (id === undefined) throw notFound('agent');
  return getAgent(table, orgId, id);
};

/** @throws AppError 404 naming the numbers that name no run */
export const runsNumbered = async (
  table: Table,
  orgId: string,
  numbers: readonly number[],
): Promise<readonly { readonly number: number; readonly executionId: string }[]> => {
  const different = [...new Set(numbers)];
  const ids = await idsOf(table, orgId, 'exe', different);
  return different.map((number, at) => {
    const executionId = ids[at];
    if (executionId === undefined) throw notFound(`run: ${number}`);
    return { number, executionId };
  });
};

/**
 * The project with a number. Nobody is told the number of a project, so all of them get theirs when one is asked for, in the
 * order in which they were made: the default project is 1.
 * @throws AppError 404
 */
export const projectNumbered = async (table: Table, orgId: string, number: number): Promise<string> => {
  const find = async () => (await idsOf(table, orgId, 'prj', [number]))[0];
  const known = await find();
  if (known !== undefined) return known;
  const ids: string[] = [];
  let start: string | undefined;
  do {
    const page = await listProjects(table, orgId, { limit: PAGE, start });
    ids.unshift(...page.items.map(({ id }) => id).reverse());
    start = page.next;
  } while (start !== undefined);
  await numbersOf(table, orgId, 'prj', ids);
  const found = await find();
  if (found === undefined) throw notFound('project');
  return found;
};
