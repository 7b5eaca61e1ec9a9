import { AppError } from '../kernel/errors.ts';
import type { Table } from '../kernel/table.ts';
import type { Listed, PageRequest } from '../tenancy/list-rows.ts';
import { runsNumbered } from './find.ts';

export interface OutputDeps {
  readonly table: Table;
  readonly executions: {
    listFiles(
      at: { readonly orgId: string; readonly executionId: string },
      page: PageRequest,
    ): Promise<Listed<{ readonly path: string }>>;
  };
}

const PAGE = 1_000;

/**
 * Addresses of the files of runs, by the run's number. They are this API's own and take the key that asked: the same here and
 * on AWS, nothing that works for whoever finds it.
 * @param origin of this API, such as `https://api.example.org`
 * @throws AppError 404 for a run, and where none is named
 */
export const runOutput = async (
  deps: OutputDeps,
  given: { readonly orgId: string; readonly runIds: readonly number[]; readonly origin: string },
): Promise<{ readonly [runId: string]: readonly string[] }> => {
  if (given.runIds.length === 0) throw new AppError(404, 'not_found', 'No run is named.');
  const output: { [runId: string]: readonly string[] } = {};
  for (const { number, executionId } of await runsNumbered(deps.table, given.orgId, given.runIds)) {
    const paths = await pathsOf(deps, { orgId: given.orgId, executionId });
    output[String(number)] = paths.map(
      (path) =>
        `${given.origin}/v1/executions/${executionId}/files/${path.split('/').map(encodeURIComponent).join('/')}`,
    );
  }
  return output;
};

const pathsOf = async (
  { executions }: OutputDeps,
  at: { readonly orgId: string; readonly executionId: string },
): Promise<string[]> => {
  const paths: string[] = [];
  let start: string | undefined;
  do {
    const page = await executions.listFiles(at, { limit: PAGE, start });
    paths.push(...page.items.map(({ path }) => path));
    start = page.next;
  } while (start !== undefined);
  return paths;
};
