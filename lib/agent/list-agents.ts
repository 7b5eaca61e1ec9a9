import { owner } from '../kernel/keys.ts';
import type { Table } from '../kernel/table.ts';
import { type Listed, listRows, type PageRequest } from '../tenancy/list-rows.ts';
import { type Agent, readAgent } from './agent.ts';

/** Newest first, without deleted ones. The index follows the table within moments. */
export const listAgents = (
  table: Table,
  orgId: string,
  filter: { readonly projectId?: string | undefined },
  page: PageRequest,
): Promise<Listed<Agent>> =>
  listRows(
    {
      table,
      pk: owner.agents(orgId),
      index: 'byOwner',
      read: (item) => {
        const agent = readAgent(item);
        const wanted = filter.projectId === undefined || agent.projectId === filter.projectId;
        return agent.deletedAt === undefined && wanted ? agent : undefined;
      },
    },
    page,
  );
