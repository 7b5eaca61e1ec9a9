import { badRequest } from '../kernel/errors.ts';

/** Which workflows an agent can be given. */
export interface Workflows {
  /** Names of the built-in ones. */
  readonly workflows: readonly string[];
  /** The organisation's own. Without it there are none. */
  readonly ownWorkflows?: OwnWorkflows | undefined;
}

/** The rooms above know how workflows are kept; an agent keeps a name. */
export interface OwnWorkflows {
  /** The name of a workflow by its name or id; `undefined` when this organisation has none such. */
  nameOf(orgId: string, nameOrId: string): Promise<string | undefined>;
  /** Some names, for a message that says what there is. */
  names(orgId: string): Promise<readonly string[]>;
}

/**
 * The name that an agent keeps of the workflow that was asked for.
 * @throws AppError 400 `bad_request` naming what there is
 */
export const chooseWorkflow = async (there: Workflows, orgId: string, nameOrId: string): Promise<string> => {
  if (there.workflows.includes(nameOrId)) return nameOrId;
  const own = await there.ownWorkflows?.nameOf(orgId, nameOrId);
  if (own !== undefined) return own;
  const names = [...there.workflows, ...((await there.ownWorkflows?.names(orgId)) ?? [])];
  const expected = `one of ${names.join(', ')}`;
  const received = `"${nameOrId.slice(0, 60)}"`;
  throw badRequest(`There is no such workflow: expected ${expected}.`, [{ field: 'workflow', received, expected }]);
};
