/** What came without a good signature leaves a number an hour and nothing else, however much of it comes. */
import { keys } from '../../kernel/keys.ts';
import { add, set, type Table } from '../../kernel/table.ts';
import { TABLE } from '../../names.ts';
import { ROW_VERSION } from '../../tenancy/row.ts';
import type { Source } from '../source/source.ts';

const HOUR_MS = 3_600_000;
const KEPT_HOURS = 48;

/** `2026-03-01T12` */
const hourOf = (ms: number): string => new Date(ms).toISOString().slice(0, 13);

export const countRefused = async (
  table: Table,
  { orgId, id }: Pick<Source, 'orgId' | 'id'>,
  code: string,
  now: number,
): Promise<void> => {
  await table.update(keys.refusedDeliveries(orgId, id, hourOf(now)), [
    add('count', 1),
    set('code', code),
    set('lastAt', now),
    set('v', ROW_VERSION),
    set(TABLE.ttl, Math.floor(now / 1000) + KEPT_HOURS * 3_600),
  ]);
};

/** How many were refused in this hour and the hours before it. @param hours at most 48 */
export const refusedLately = async (
  table: Table,
  { orgId, id }: Pick<Source, 'orgId' | 'id'>,
  now: number,
  hours: number,
): Promise<number> => {
  const wanted = Array.from({ length: Math.min(hours, KEPT_HOURS) }, (_, ago) =>
    keys.refusedDeliveries(orgId, id, hourOf(now - ago * HOUR_MS)),
  );
  const rows = await table.getMany(wanted);
  return rows.reduce((sum, row) => sum + (typeof row?.count === 'number' ? row.count : 0), 0);
};
