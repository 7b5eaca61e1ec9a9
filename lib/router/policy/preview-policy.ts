import { owner } from '../../kernel/keys.ts';
import type { Log } from '../../kernel/ports.ts';
import type { Table } from '../../kernel/table.ts';
import { listRows } from '../../tenancy/list-rows.ts';
import { judgeGate } from '../gate/judge-gate.ts';
import type { Source } from '../source/source.ts';
import { CLASSES, type Class, type GateVerdict, readTrigger, type Trigger } from '../thread/trigger.ts';
import { standingVersion } from './load-policy.ts';
import type { Policy } from './policy.ts';
import { demandFit } from './put-policy.ts';
import { sourcesOf } from './sources-of.ts';

export interface PreviewDeps {
  readonly table: Table;
  readonly log: Log;
  /** Names of the tools there are. */
  readonly tools: readonly string[];
  /** Whether a text names us, as the source's channel reads it. */
  readonly names: (text: string, source: Source) => boolean;
}

export interface PreviewedTrigger {
  readonly trigger: Trigger;
  /** The verdict of the draft. `trigger.gate` is the one that was given when it came. */
  readonly draft: GateVerdict;
  readonly changed: boolean;
}

export interface Preview {
  /** Version that the draft would get. */
  readonly version: number;
  readonly items: readonly PreviewedTrigger[];
  /** By class, how many now and by the draft. */
  readonly counts: { readonly [kind in Class]: { readonly now: number; readonly draft: number } };
  readonly changed: number;
}

/**
 * The Gate of a draft over the last Triggers, newest first. Changes nothing and asks no model.
 * @param limit how many Triggers are looked at, at most
 * @throws AppError 400 `invalid_policy`
 */
export const previewPolicy = async (
  deps: PreviewDeps,
  orgId: string,
  policy: Policy,
  limit: number,
): Promise<Preview> => {
  await demandFit(deps, orgId, policy);
  const list = { ...deps, pk: owner.triggers(orgId), index: 'byOwner', prefix: 'trg_', read: readTrigger } as const;
  const [sources, stands, listed] = await Promise.all([
    sourcesOf(deps.table, orgId),
    standingVersion(deps.table, orgId),
    listRows(list, { limit }),
  ]);
  const version = stands + 1;
  const items = listed.items.map((trigger): PreviewedTrigger => {
    const source = sources.get(trigger.sourceId);
    const named = source !== undefined && deps.names(trigger.text, source);
    const draft = judgeGate({ version, policy }, trigger, source?.self, named);
    const { gate } = trigger;
    const changed = gate.class !== draft.class || (gate.stop ?? false) !== (draft.stop ?? false);
    return { trigger, draft, changed };
  });
  const count = (kind: Class) => ({
    now: items.filter(({ trigger }) => trigger.gate.class === kind).length,
    draft: items.filter(({ draft }) => draft.class === kind).length,
  });
  const counts = Object.fromEntries(CLASSES.map((kind) => [kind, count(kind)])) as Preview['counts'];
  return { version, items, counts, changed: items.filter(({ changed }) => changed).length };
};
