/** Words from outside inform a worker and may not use its tools: what becomes of a call once they have entered its run. */
import { type Change, set } from '../../kernel/table.ts';
import type { Effect, Tool } from '../../tools/tool.ts';
import { A, type Execution } from '../execution.ts';
import type { FeedRow, ReplyRow } from '../feed.ts';
import type { InputRow, Pinned } from '../rows.ts';
import { needsPermission } from './permission.ts';

/**
 * Whether a reply was made with words from outside in sight: this step's messages count already, for the reply has read
 * them. Runs that work for no ticket have no taint.
 */
export const isTainted = (
  execution: Pick<Execution, 'ticketId' | 'tainted'>,
  inputs: readonly Pick<InputRow, 'number' | 'trust'>[],
  reply: Pick<ReplyRow, 'inputs'>,
): boolean =>
  execution.ticketId !== undefined &&
  (execution.tainted === true || inputs.some(({ number, trust }) => number <= reply.inputs && trust === 'data'));

const ruleOf = (pinned: Pick<Pinned, 'tainted'>, tool: string, tainted: boolean): 'ask' | 'deny' | undefined =>
  tainted && pinned.tainted !== undefined && Object.hasOwn(pinned.tainted, tool) ? pinned.tainted[tool] : undefined;

export const isDenied = (pinned: Pick<Pinned, 'tainted'>, tool: string, tainted: boolean): boolean =>
  ruleOf(pinned, tool, tainted) === 'deny';

export const deniedText = (tool: string): string =>
  `Not carried out: ${tool} is not allowed once this run has read words from outside its team. Go on without it, or report what is missing.`;

/** Whether a person has to allow the call, for whatever reason. */
export const asksLeave = (
  pinned: Pick<Pinned, 'permissionType' | 'permissionTools' | 'tainted'>,
  tool: string,
  effect: Effect,
  tainted: boolean,
): boolean => needsPermission(pinned, tool, effect) || ruleOf(pinned, tool, tainted) === 'ask';

/** What the commit of a step remembers: words that its messages or its calls have brought in. */
export const taintChanges = (
  execution: Pick<Execution, 'ticketId' | 'tainted'>,
  tainted: boolean,
  offered: ReadonlyMap<string, Tool>,
  rows: readonly FeedRow[],
): readonly Change[] => {
  if (execution.ticketId === undefined || execution.tainted === true) return [];
  const read = rows.some((row) => row.kind === 'tool' && offered.get(row.name)?.outside === true);
  return tainted || read ? [set(A.tainted, true)] : [];
};
