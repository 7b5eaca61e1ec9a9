import { notFound } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import type { Clock, Log } from '../kernel/ports.ts';
import type { Table } from '../kernel/table.ts';
import { TABLE } from '../names.ts';
import { type Listed, listRows, type PageRequest } from '../tenancy/list-rows.ts';
import { type Attention, type AttentionKind, readAttention } from './attention.ts';

interface Deps {
  readonly table: Table;
  readonly clock: Clock;
  readonly log: Log;
}

export interface AttentionFilter {
  readonly kind?: AttentionKind | undefined;
  readonly subjectType?: string | undefined;
  /** Id of the subject, or of the run that it belongs to. */
  readonly subjectId?: string | undefined;
}

/** The table takes up to two days to remove what is over. */
const isOver = (item: Attention, now: number): boolean => {
  const ends = item[TABLE.ttl];
  return ends !== undefined && ends * 1000 <= now;
};

const fits = (item: Attention, { kind, subjectType, subjectId }: AttentionFilter): boolean =>
  (kind === undefined || item.kind === kind) &&
  (subjectType === undefined || item.subjectType === subjectType) &&
  (subjectId === undefined || item.subjectId === subjectId || item.executionId === subjectId);

/** Oldest first. */
export const listAttention = (
  { table, clock, log }: Deps,
  orgId: string,
  filter: AttentionFilter,
  page: PageRequest,
): Promise<Listed<Attention>> => {
  const { pk, prefix } = keys.attentions(orgId);
  const read = (row: Parameters<typeof readAttention>[0]): Attention | undefined => {
    const item = readAttention(row);
    return fits(item, filter) && !isOver(item, clock.now()) ? item : undefined;
  };
  return listRows({ table, log, pk, prefix, oldestFirst: true, read }, page);
};

/** @throws AppError 404, also when it is closed */
export const getAttention = async (
  { table, clock }: Omit<Deps, 'log'>,
  orgId: string,
  attentionId: string,
): Promise<Attention> => {
  const row = await table.get(keys.attention(orgId, attentionId), { consistent: true });
  const item = row && readAttention(row);
  if (item === undefined || isOver(item, clock.now())) throw notFound('attention item');
  return item;
};
