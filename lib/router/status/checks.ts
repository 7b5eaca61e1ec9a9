/** What the Router's checks are read from. Reads only, and of each kind the newest rows alone. */
import { keys, owner } from '../../kernel/keys.ts';
import type { Clock, Log } from '../../kernel/ports.ts';
import type { Item, Table } from '../../kernel/table.ts';
import { listRows } from '../../tenancy/list-rows.ts';
import { readDelivery } from '../ingest/delivery.ts';
import { refusedLately } from '../ingest/refused.ts';
import { readPosting } from '../outbox/posting.ts';
import { readSource } from '../source/source.ts';
import { readThread } from '../thread/thread.ts';
import { type Check, deliveriesCheck, effectsCheck, sourcesCheck, threadsCheck } from './judge.ts';

interface Deps {
  readonly table: Table;
  readonly log: Log;
  readonly clock: Pick<Clock, 'now'>;
}

const LOOKED_AT = 100;
/** Of each source. */
const DELIVERIES = 20;

const newest = async <T>(
  { table, log }: Deps,
  where: { readonly pk: string; readonly prefix?: string; readonly index?: 'byOwner' },
  read: (item: Item) => T,
  limit = LOOKED_AT,
): Promise<readonly T[]> => (await listRows({ table, log, ...where, read }, { limit })).items;

/** Empty where an organisation has no sources: then there is nothing that could stand still. */
export const routerChecks = async (deps: Deps, orgId: string): Promise<readonly Check[]> => {
  const now = deps.clock.now();
  const sources = await newest(deps, keys.sources(orgId), readSource);
  if (sources.length === 0) return [];
  const [threads, postings, perSource] = await Promise.all([
    newest(deps, { pk: owner.threads(orgId), index: 'byOwner' }, readThread),
    newest(deps, { pk: owner.postings(orgId), index: 'byOwner' }, readPosting),
    Promise.all(
      sources.map(async (source) => ({
        source,
        refused: await refusedLately(deps.table, source, now, 1),
        deliveries: await newest(deps, keys.deliveries(orgId, source.id), readDelivery, DELIVERIES),
      })),
    ),
  ]);
  return [
    sourcesCheck(
      sources,
      perSource.filter(({ refused }) => refused > 0).map(({ source }) => source),
    ),
    deliveriesCheck(
      perSource.flatMap(({ deliveries }) => deliveries),
      now,
    ),
    threadsCheck(threads, now),
    effectsCheck(postings, now),
  ];
};
