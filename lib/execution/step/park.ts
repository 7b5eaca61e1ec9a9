import { keys } from '../../kernel/keys.ts';
import {
  and,
  type Change,
  type Condition,
  type ConditionFailed,
  eq,
  set,
  TransactionRefused,
  type Write,
} from '../../kernel/table.ts';
import { type Lease, LeaseLost } from '../../lease/lease.ts';
import type { ToolCall } from '../../model/model.ts';
import { A, type Execution } from '../execution.ts';
import { markAt } from '../mark.ts';
import { type AskRow, askItem } from '../rows.ts';
import { type Status, type StatusEvent, transition } from '../status.ts';
import { clockStopped, leaseGone, settled } from './changes.ts';
import type { StepDeps } from './deps.ts';
import { holds, stillHeld } from './lease.ts';
import { argumentsHash } from './permission.ts';
import { isRefused, refusedRow, writeStatus } from './stop.ts';

export interface Question {
  readonly kind: AskRow['kind'];
  readonly n: number;
  readonly call: ToolCall;
  readonly why: string;
  /** Of a permission: after so many milliseconds the clock settles it. */
  readonly expiry?: { readonly ms: number; readonly then: 'reject' | 'pause' };
}

const askOf = (execution: Execution, { kind, n, call, why, expiry }: Question, now: number): Omit<AskRow, 'v'> => {
  const { orgId, executionId, agentId, seq } = execution;
  // The question of a call that needed leave stands beside its permission.
  const askId = `ask_${executionId.slice(4)}_${seq}_${n}${kind === 'question' ? '_q' : ''}`;
  return {
    askId,
    kind,
    orgId,
    executionId,
    agentId,
    seq,
    n,
    state: 'pending',
    tool: call.name,
    arguments: call.arguments,
    argumentsHash: argumentsHash(call),
    why,
    at: now,
    ...(expiry && {
      expiresAt: now + expiry.ms,
      onExpiry: expiry.then,
      ...markAt('tick', askId, now + expiry.ms),
    }),
  };
};

/** Somebody may pause and resume while it is written. */
const MAX_TRIES = 5;

/** How a step stands still in its middle. */
export interface Standstill {
  readonly event: Extract<StatusEvent, 'ask_input' | 'ask_permission' | 'wait'>;
  /** What must be so beside the lease, or the standstill is moot. */
  readonly unless?: Condition;
  readonly changes?: readonly Change[];
  /** Written, or checked, in the same transaction. */
  readonly beside: readonly Write[];
  /** What this claim spent, micro-dollars. */
  readonly cost: number;
}

/**
 * The lease goes, nothing is committed, the step keeps its number and its attempt. Whoever ends the standstill wakes the
 * step; the stored reply is used again, finished calls are skipped.
 * @returns `overtaken` when what it would wait for has happened meanwhile; nothing is written then
 * @throws LeaseLost
 */
export const standStill = async (
  deps: StepDeps,
  lease: Lease,
  execution: Execution,
  { event, unless, changes = [], beside, cost }: Standstill,
): Promise<'parked' | 'overtaken'> => {
  await lease.stop();
  const waiting = transition('RUNNING', event) as Status;
  const key = keys.execution(execution.orgId, execution.executionId);
  let seen = execution;
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const now = deps.clock.now();
    const mine = stillHeld(lease.owner, execution, now);
    const guard = and(mine, ...(unless === undefined ? [] : [unless]), eq(A.status, seen.status));
    const common = [
      ...leaseGone,
      ...settled(execution, cost),
      set(A.attempts, execution.attempts - 1),
      set(A.updated, now),
      ...changes,
    ];
    try {
      if (seen.status === 'RUNNING') {
        const stands = [set(A.status, waiting), set(A.since, now), ...clockStopped(seen, now)];
        const change = { execution, from: seen.status, to: waiting, reason: undefined, at: now };
        await writeStatus(deps, change, { update: key, changes: [...common, ...stands], if: guard }, beside);
      } else if (seen.status === 'PAUSED') {
        // Somebody paused meanwhile: PAUSED remembers what the execution waits for.
        const stands = [set(A.pausedFrom, waiting)];
        await deps.table.transact([{ update: key, changes: [...common, ...stands], if: guard }, ...beside]);
      } else break;
      return 'parked';
    } catch (error) {
      if (!isRefused(error)) throw error;
      if (isBeside(error)) return 'overtaken';
      const row = refusedRow(error);
      // Not mine: whatever I wrote now could be wrong.
      if (row === undefined || !holds(row, lease.owner, execution.seq, now)) break;
      // Mine, in the state I wanted it in, and still not allowed: something overtook it.
      if (row.status === seen.status) return 'overtaken';
      // Paused, or resumed, between my look and my write.
      seen = row;
    }
  }
  throw new LeaseLost('The step was taken over before it stood still.');
};

/** The execution itself was as it had to be; a row beside it was not. */
const isBeside = (error: ConditionFailed | TransactionRefused): boolean =>
  error instanceof TransactionRefused && error.refused[0] === false;

/**
 * Asks a person in mid-step. The decision wakes it.
 * @param waking the counter of waking inputs that a question may not be overtaken by
 * @returns `overtaken` when an input arrived after the prompt, so that the question is moot
 */
export const parkStep = async (
  deps: StepDeps,
  lease: Lease,
  execution: Execution,
  waking: number,
  question: Question,
  cost: number,
): Promise<'parked' | 'overtaken'> => {
  const now = deps.clock.now();
  const ask = askOf(execution, question, now);
  return standStill(deps, lease, execution, {
    event: question.kind === 'question' ? 'ask_input' : 'ask_permission',
    // What arrived after the prompt answers before it is asked; a permission does not care.
    ...(question.kind === 'question' && { unless: eq(A.wakingInputs, waking) }),
    beside: [{ put: askItem(ask) }, ...(deps.upper.asks?.({ ask, at: now }) ?? [])],
    cost,
  });
};
