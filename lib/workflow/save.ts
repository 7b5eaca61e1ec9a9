import { badRequest, conflict } from '../kernel/errors.ts';
import type { Ids } from '../kernel/ids.ts';
import { keys } from '../kernel/keys.ts';
import { eq, missing, set, type Table, TransactionRefused, type Write } from '../kernel/table.ts';
import type { Alongside } from '../tenancy/alongside.ts';
import { isBuiltIn, type Workflow } from './built-ins.ts';
import type { WorkflowDefinition } from './definition.ts';
import { findWorkflow, newestOf } from './load.ts';
import { headItem, nameItem, versionItem } from './rows.ts';
import { checkDefinition } from './validate.ts';

export interface NewWorkflow {
  readonly orgId: string;
  /** Id of the key that saves it. */
  readonly actor: string;
  /** As it came; checked here. */
  readonly definition: unknown;
  /** The name has to be free, or to have this very definition: no other one becomes its next version. */
  readonly onlyNew?: boolean | undefined;
  readonly alongside?: Alongside<Workflow> | undefined;
}

/** Savers of one name at the same moment take turns; each turn lets one through. */
const MOST_TURNS = 8;

/**
 * Keeps a definition: under a new name as version 1 of a new workflow, under a name of the organisation as its next
 * version. What is kept never changes, so agents' later runs take the new version and running ones keep theirs. A definition
 * that is the newest version already is not kept again: that version is answered, and nothing but `alongside` is written.
 *
 * One transaction; the row of the name is its guard. A refused turn has written nothing and begins again with what stands.
 * @param tools names of the tools there are
 * @throws AppError 400 `invalid_workflow`, 409 `workflow_busy`, with `onlyNew` `workflow_differs`; TransactionRefused when only what is `alongside` was refused
 */
export const saveWorkflow = async (
  deps: { readonly table: Table; readonly ids: Ids },
  tools: readonly string[],
  given: NewWorkflow,
  nowMs: number,
): Promise<Workflow> => {
  const { orgId, actor } = given;
  const definition = checkDefinition(given.definition, tools);
  const { name } = definition;
  if (isBuiltIn(name)) throw takenName(name);
  const at = new Date(nowMs).toISOString();
  const freshId = deps.ids.next('wfl', nowMs);
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    const before = await newestOf(deps.table, orgId, name);
    const newest = before && (await findWorkflow(deps.table, orgId, before.id, before.version));
    const isSame = newest !== undefined && JSON.stringify(newest.definition) === JSON.stringify(definition);
    if (given.onlyNew === true && newest !== undefined && !isSame) throw differs(name);
    const id = before?.id ?? freshId;
    const version = isSame ? newest.version : (before?.version ?? 0) + 1;
    const saved: Workflow = { id, name, version, definition, builtIn: false };
    const stays = { check: keys.workflowName(orgId, name), if: eq('version', version) };
    const own: readonly Write[] = isSame
      ? [stays]
      : [
          ...headWrites(orgId, id, version, definition, at, before?.version),
          { put: versionItem(orgId, { id, version, definition, createdBy: actor, createdAt: at }), if: missing('pk') },
        ];
    const alongside = given.alongside?.(saved) ?? [];
    if (isSame && alongside.length === 0) return saved;
    try {
      await deps.table.transact([...own, ...alongside]);
      return saved;
    } catch (error) {
      const outrun = error instanceof TransactionRefused && error.refused.slice(0, own.length).includes(true);
      if (!outrun) throw error;
    }
  }
  throw conflict('workflow_busy', `The workflow ${name} is being saved by others at this moment. Try again.`);
};

const headWrites = (
  orgId: string,
  id: string,
  version: number,
  { name, description }: WorkflowDefinition,
  at: string,
  before: number | undefined,
): readonly Write[] => {
  if (before === undefined) {
    const head = { id, name, description, version, createdAt: at, updatedAt: at };
    return [
      { put: nameItem(orgId, name, { id, version }), if: missing('pk') },
      { put: headItem(orgId, head), if: missing('pk') },
    ];
  }
  const changes = [set('version', version), set('description', description), set('updatedAt', at)];
  return [
    { update: keys.workflowName(orgId, name), changes: [set('version', version)], if: eq('version', before) },
    { update: keys.workflow(orgId, id), changes, if: eq('version', before) },
  ];
};

/** Saved as the next version it would change what other agents do. */
export const differs = (name: string): Error =>
  conflict(
    'workflow_differs',
    `The organisation has another workflow ${name}. Rename one of the two, then try again.`,
    { workflow: name },
  );

const takenName = (name: string): Error => {
  const errors = [{ field: 'name', received: `"${name}"`, expected: 'a name that no built-in workflow has' }];
  return badRequest(`${name} is a built-in workflow and cannot be replaced.`, errors, 'invalid_workflow');
};
