import { blobKeys } from '../../kernel/keys.ts';
import { ConditionFailed, missing } from '../../kernel/table.ts';
import { type Lease, LeaseLost } from '../../lease/lease.ts';
import type { ToolCall } from '../../model/model.ts';
import { parseArguments } from '../../tools/run.ts';
import type { Effect, Tool, ToolResult } from '../../tools/tool.ts';
import { findTool } from '../../tools/toolkit.ts';
import type { Execution } from '../execution.ts';
import { FIRST_CALL_N, feedItem, MAX_CALLS, type Outcome, type ReplyRow, readFeedRow, type ToolRow } from '../feed.ts';
import { type Pinned, readStarted, startedItem } from '../rows.ts';
import type { StepDeps } from './deps.ts';
import { isRefusal, refusalText, remarkOf, tooLongToAsk } from './permission.ts';
import type { Leftovers } from './recover.ts';
import { asksLeave, deniedText, isDenied } from './taint.ts';

/**
 * Results above this many characters are set aside in the bucket; the model gets the beginning and an id to read on. It
 * is more than a page of `read_file` with its head line (8,000 and a path), or what was set aside could never be read.
 */
const INLINE_RESULT = 9_000;
const EXCERPT = 2_000;
/** The lease must outlast an unsafe call by this much, so that its outcome can still be written. */
const MARGIN_MS = 2_000;

export type Planned =
  | {
      readonly kind: 'run';
      readonly n: number;
      readonly call: ToolCall;
      readonly tool: Tool;
      readonly args: unknown;
      readonly effect: Effect;
    }
  /** Answered without running: unknown tool, unreadable arguments, more of them than a person can be shown. */
  | { readonly kind: 'answer'; readonly n: number; readonly call: ToolCall; readonly text: string };

export const FINISH = 'finish';
export const ASK_USER = 'ask_user';

/**
 * The tools a run is offered: those its configuration names, or all but those that must be named; `finish` always, for a
 * run must be able to end.
 */
export const offeredTools = (
  tools: ReadonlyMap<string, Tool>,
  pinned: Pick<Pinned, 'tools'>,
): ReadonlyMap<string, Tool> =>
  pinned.tools === undefined
    ? new Map([...tools].filter(([, tool]) => tool.named !== true))
    : new Map([...tools].filter(([name]) => name === FINISH || pinned.tools?.includes(name)));

export const planCalls = (
  calls: readonly ToolCall[],
  offered: ReadonlyMap<string, Tool>,
  pinned: Pinned,
  tainted = false,
): readonly Planned[] =>
  calls.slice(0, MAX_CALLS).map((call, index): Planned => {
    const n = FIRST_CALL_N + index;
    const found = findTool(call.name, [...offered.values()]);
    if (!found.ok) return { kind: 'answer', n, call, text: found.problem };
    const { tool } = found;
    const parsed = parseArguments(tool, call.arguments);
    if (!parsed.ok) return { kind: 'answer', n, call, text: parsed.problem };
    const effect = tool.effect(parsed.args, pinned.config);
    if (isDenied(pinned, tool.name, tainted)) return { kind: 'answer', n, call, text: deniedText(tool.name) };
    const asks = tool.name === ASK_USER || asksLeave(pinned, tool.name, effect, tainted);
    const problem = asks ? tooLongToAsk(call) : undefined;
    if (problem !== undefined) return { kind: 'answer', n, call, text: problem };
    return { kind: 'run', n, call, tool, args: parsed.args, effect };
  });

export interface Actor {
  readonly deps: StepDeps;
  readonly lease: Lease;
  readonly execution: Execution;
  readonly reply: ReplyRow;
  readonly pinned: Pinned;
  readonly leftovers: Leftovers;
}

/** R3: the first outcome of a call stands, whoever wrote it. */
export const storeOutcome = async (
  { deps, execution, leftovers }: Pick<Actor, 'deps' | 'execution' | 'leftovers'>,
  call: ToolCall,
  n: number,
  outcome: Outcome,
  text: string,
  startedAt: number,
): Promise<ToolRow> => {
  const { orgId, executionId, seq } = execution;
  let content = text;
  let blob: string | undefined;
  if (text.length > INLINE_RESULT) {
    blob = blobKeys.spilled(orgId, executionId, seq, n);
    await deps.blobs.put(blob, new TextEncoder().encode(text), 'text/plain; charset=utf-8');
    content = `${text.slice(0, EXCERPT)}\n[… ${text.length} characters in all. Read on with read_file, path "~spilled/${seq}-${n}".]`;
  }
  const row = {
    kind: 'tool' as const,
    seq,
    n,
    at: deps.clock.now(),
    callId: call.id,
    name: call.name,
    outcome,
    content: `${content}${remarkOf(leftovers.asks.get(n))}`,
    ...(blob !== undefined && { blob }),
    startedAt,
  };
  const item = feedItem(orgId, executionId, row);
  try {
    await deps.table.put(item, missing('pk'));
    return { ...row, v: 1 };
  } catch (error) {
    if (!(error instanceof ConditionFailed) || error.item === undefined) throw error;
    const stored = readFeedRow(error.item);
    if (stored.kind !== 'tool') throw new Error(`Row ${seq}/${n} is a ${stored.kind}, not an outcome.`);
    return stored;
  }
};

const execute = async (actor: Actor, planned: Extract<Planned, { kind: 'run' }>): Promise<ToolResult> => {
  const { deps, lease, execution, pinned } = actor;
  const { orgId, executionId, seq } = execution;
  try {
    return await planned.tool.execute(planned.args, {
      key: `${executionId}-${seq}-${planned.n - FIRST_CALL_N}`,
      seq,
      n: planned.n,
      config: pinned.config,
      run: { orgId, executionId, ticketId: execution.ticketId, inputs: actor.reply.inputs },
      files: deps.filesOf(orgId, executionId),
      fetch: deps.fetch,
      signal: AbortSignal.any([lease.signal, AbortSignal.timeout(planned.tool.timeoutSeconds * 1000)]),
    });
  } catch (error) {
    // A lost lease or a failing table is ours, not the tool's: the step is tried again under the same key.
    if (lease.signal.aborted) throw new LeaseLost('The lease was lost during a call.');
    if (planned.effect !== 'unsafe' && isOurs(error)) throw error;
    const text = `${planned.tool.name} failed: ${error instanceof Error ? error.message : String(error)}`;
    return { ok: false, text: text.slice(0, 2_000) };
  }
};

/** Errors of the platform's own services carry AWS's metadata; those of the outside world do not. */
const isOurs = (error: unknown): boolean =>
  error instanceof Error && ('$metadata' in error || error.name === 'UnreadableRow' || error.name === 'PortFailure');

const runUnsafe = async (actor: Actor, planned: Extract<Planned, { kind: 'run' }>): Promise<ToolRow> => {
  const { deps, lease, execution, leftovers } = actor;
  const { orgId, executionId, seq } = execution;
  const unknown = async (): Promise<ToolRow> => {
    // Only a holder with lease left may say so: a zombie could say it of a call that its successor is about to run.
    await lease.confirm();
    const text = `The outcome of ${planned.call.name} is unknown: it was started and its answer was lost. Check before you repeat it.`;
    return storeOutcome(actor, planned.call, planned.n, 'unknown', text, deps.clock.now());
  };
  if (leftovers.started.has(planned.n)) return unknown();
  const startedAt = deps.clock.now();
  try {
    await deps.table.put(startedItem(orgId, executionId, seq, planned.n, lease.owner, startedAt), missing('pk'));
  } catch (error) {
    if (!(error instanceof ConditionFailed) || error.item === undefined) throw error;
    // A refused put that shows my own name is mine: applied, its answer lost, sent again by the client.
    if (readStarted(error.item).creator !== lease.owner) return unknown();
  }
  await lease.ensure(planned.tool.timeoutSeconds * 1000 + MARGIN_MS);
  const result = await execute(actor, planned);
  return storeOutcome(actor, planned.call, planned.n, result.ok ? 'ok' : 'error', result.text, startedAt);
};

const runOne = async (actor: Actor, planned: Planned): Promise<ToolRow> => {
  const done = actor.leftovers.outcomes.get(planned.n);
  if (done !== undefined) return done;
  const startedAt = actor.deps.clock.now();
  if (planned.kind === 'answer') {
    return storeOutcome(actor, planned.call, planned.n, 'error', planned.text, startedAt);
  }
  const ask = actor.leftovers.asks.get(planned.n);
  if (isRefusal(ask)) return storeOutcome(actor, planned.call, planned.n, 'rejected', refusalText(ask), startedAt);
  if (planned.effect === 'unsafe') return runUnsafe(actor, planned);
  const result = await execute(actor, planned);
  return storeOutcome(actor, planned.call, planned.n, result.ok ? 'ok' : 'error', result.text, startedAt);
};

/** Calls that name one resource run in their order, unsafe calls one by one, all else at once. */
const laneOf = (planned: Planned): string => {
  if (planned.kind === 'answer') return `answer ${planned.n}`;
  if (planned.effect === 'unsafe') return 'unsafe';
  const resource = planned.tool.resource?.(planned.args);
  return resource === undefined ? `alone ${planned.n}` : `resource ${resource}`;
};

export const runCalls = async (actor: Actor, planned: readonly Planned[]): Promise<readonly ToolRow[]> => {
  const lanes = new Map<string, Planned[]>();
  for (const each of planned) lanes.set(laneOf(each), [...(lanes.get(laneOf(each)) ?? []), each]);
  const results = await Promise.allSettled(
    [...lanes.values()].map(async (lane) => {
      const rows: ToolRow[] = [];
      for (const each of lane) rows.push(await runOne(actor, each));
      return rows;
    }),
  );
  // All lanes have ended before a failure is passed on: nothing of this step may still be running after it.
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
};
