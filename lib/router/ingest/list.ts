import { keys } from '../../kernel/keys.ts';
import type { Log } from '../../kernel/ports.ts';
import type { Table } from '../../kernel/table.ts';
import { type Listed, listRows, type PageRequest } from '../../tenancy/list-rows.ts';
import { getSource } from '../source/find.ts';
import { type Delivery, readDelivery, type Verdict } from './delivery.ts';

/** Of the last 30 days, newest first. @throws AppError 404 */
export const listSourceDeliveries = async (
  deps: { readonly table: Table; readonly log: Log },
  orgId: string,
  sourceId: string,
  verdict: Verdict | undefined,
  page: PageRequest,
): Promise<Listed<Delivery>> => {
  await getSource(deps.table, orgId, sourceId);
  const read = (item: Parameters<typeof readDelivery>[0]): Delivery | undefined => {
    const delivery = readDelivery(item);
    return verdict === undefined || delivery.verdict === verdict ? delivery : undefined;
  };
  return listRows({ ...deps, ...keys.deliveries(orgId, sourceId), read }, page);
};
