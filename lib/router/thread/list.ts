/** Lists for people: every Trigger, Thread and decision of an organisation, newest first. */
import { keys, owner } from '../../kernel/keys.ts';
import type { Log } from '../../kernel/ports.ts';
import type { Item, Table } from '../../kernel/table.ts';
import { type Listed, listRows, type PageRequest } from '../../tenancy/list-rows.ts';
import { type DecisionRow, readDecision } from './rows.ts';
import { readThread, type Thread } from './thread.ts';
import { type Class, type DecisionKind, readTrigger, type Trigger } from './trigger.ts';

export interface ListDeps {
  readonly table: Table;
  readonly log: Log;
}

/** What a Trigger is shown as: what went to tickets is `direct`, whatever the Gate said of it. */
export type ShownClass = Class | 'direct';

export const classOf = ({ state, gate }: Trigger): ShownClass =>
  state === 'delivered' || (state === 'delivering' && gate.stop !== true) ? 'direct' : gate.class;

export interface TriggerFilter {
  readonly threadId?: string | undefined;
  readonly sourceId?: string | undefined;
  readonly class?: ShownClass | undefined;
  readonly state?: Trigger['state'] | undefined;
}

export const listTriggers = (
  deps: ListDeps,
  orgId: string,
  filter: TriggerFilter,
  page: PageRequest,
): Promise<Listed<Trigger>> => {
  const read = (item: Item): Trigger | undefined => {
    const trigger = readTrigger(item);
    const fits =
      (filter.threadId === undefined || trigger.threadId === filter.threadId) &&
      (filter.sourceId === undefined || trigger.sourceId === filter.sourceId) &&
      (filter.class === undefined || classOf(trigger) === filter.class) &&
      (filter.state === undefined || trigger.state === filter.state);
    return fits ? trigger : undefined;
  };
  // Within a Thread they stand in the order in which they happened.
  const where =
    filter.threadId === undefined
      ? ({ pk: owner.triggers(orgId), index: 'byOwner' } as const)
      : keys.triggers(orgId, filter.threadId);
  return listRows({ ...deps, ...where, read }, page);
};

export const listThreads = (
  deps: ListDeps,
  orgId: string,
  filter: { readonly sourceId?: string | undefined; readonly repositoryId?: string | undefined },
  page: PageRequest,
): Promise<Listed<Thread>> => {
  const read = (item: Item): Thread | undefined => {
    const thread = readThread(item);
    const fits =
      (filter.sourceId === undefined || thread.sourceId === filter.sourceId) &&
      (filter.repositoryId === undefined || thread.repositoryId === filter.repositoryId);
    return fits ? thread : undefined;
  };
  return listRows({ ...deps, pk: owner.threads(orgId), index: 'byOwner', read }, page);
};

export const listDecisions = (
  deps: ListDeps,
  orgId: string,
  filter: {
    readonly threadId?: string | undefined;
    readonly decision?: DecisionKind | undefined;
    readonly wouldAccept?: boolean | undefined;
  },
  page: PageRequest,
): Promise<Listed<DecisionRow>> => {
  const read = (item: Item): DecisionRow | undefined => {
    const row = readDecision(item);
    const fits =
      (filter.threadId === undefined || row.threadId === filter.threadId) &&
      (filter.decision === undefined || row.decision === filter.decision) &&
      (filter.wouldAccept === undefined || (row.wouldAccept ?? false) === filter.wouldAccept);
    return fits ? row : undefined;
  };
  return listRows({ ...deps, ...keys.decisions(orgId), read }, page);
};

/** Triggers of a Thread that wait for its Eval. */
export const pendingOf = async (table: Table, { orgId, id }: Thread): Promise<readonly string[]> => {
  const page = await table.query({ ...keys.pendingTriggers(orgId, id), consistent: true });
  return page.items.map(({ sk }) => sk.slice(sk.indexOf('#') + 1));
};
