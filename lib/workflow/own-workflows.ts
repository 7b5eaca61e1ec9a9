import type { OwnWorkflows } from '../agent/choose-workflow.ts';
import { isId } from '../kernel/ids.ts';
import { keys } from '../kernel/keys.ts';
import type { Log } from '../kernel/ports.ts';
import type { Table } from '../kernel/table.ts';
import { ownNames } from './list.ts';
import { newestOf } from './load.ts';
import { readHead } from './rows.ts';

/** The organisations' workflows as agents choose them. A name is never given to another workflow, so it can be kept. */
export const ownWorkflows = (deps: { readonly table: Table; readonly log: Log }): OwnWorkflows => ({
  nameOf: async (orgId, nameOrId) => {
    if (!isId('wfl', nameOrId)) {
      return (await newestOf(deps.table, orgId, nameOrId)) === undefined ? undefined : nameOrId;
    }
    const head = await deps.table.get(keys.workflow(orgId, nameOrId), { consistent: true });
    return head === undefined ? undefined : readHead(head).name;
  },
  names: (orgId) => ownNames(deps, orgId),
});
