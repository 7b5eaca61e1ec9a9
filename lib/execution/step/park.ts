import { keys } from '../../kernel/keys.ts';
import { and, type Condition, eq, set, type Write } from '../../kernel/table.ts';
import type { ToolCall } from '../../model/model.ts';
import { A, type Execution } from '../execution.ts';
import { type AskRow, askItem } from '../rows.ts';
import { type Status, transition } from '../status.ts';
import { clockStopped, leaseGone, settled } from './changes.ts';
import type { StepDeps } from './deps.ts';
import { holds, type Lease, LeaseLost, stillHeld } from './lease.ts';
import { argumentsHash } from './permission.ts';
import { isRefused, refusedRow, writeStatus } from './stop.ts';

export interface Question {
  readonly kind: AskRow['kind'];
  readonly n: number;
  readonly call: ToolCall;
  readonly why: string;
}

/**
 * Asks a person in mid-step: the lease goes, nothing is committed, the step keeps its number. The decision wakes it, the
 * stored reply is used again, finished calls are skipped.
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
  await lease.stop();
  const now = deps.clock.now();
  const { orgId, executionId, seq } = execution;
  const waiting = transition('RUNNING', question.kind === 'question' ? 'ask_input' : 'ask_permission') as Status;
  const ask: Write = {
    put: askItem({
      askId: `ask_${executionId.slice(4)}_${seq}_${question.n}`,
      kind: question.kind,
      orgId,
      executionId,
      seq,
      n: question.n,
      state: 'pending',
      tool: question.call.name,
      arguments: question.call.arguments,
      argumentsHash: argumentsHash(question.call),
      why: question.why,
      at: now,
    }),
  };
  const common = [
    ...leaseGone,
    ...settled(execution, cost),
    set(A.attempts, execution.attempts - 1),
    set(A.updated, now),
  ];
  const mine = stillHeld(lease.owner, execution, now);
  // What arrived after the prompt answers before it is asked; a permission does not care.
  const quiet: Condition = question.kind === 'question' ? and(mine, eq(A.wakingInputs, waking)) : mine;
  const key = keys.execution(orgId, executionId);
  try {
    await writeStatus(
      deps,
      { execution, from: 'RUNNING', to: waiting, reason: undefined, at: now },
      {
        update: key,
        changes: [...common, set(A.status, waiting), set(A.since, now), ...clockStopped(execution, now)],
        if: and(quiet, eq(A.status, 'RUNNING')),
      },
      [ask],
    );
    return 'parked';
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
  try {
    // Somebody paused meanwhile: PAUSED remembers what the execution waits for.
    await deps.table.transact([
      { update: key, changes: [...common, set(A.pausedFrom, waiting)], if: and(quiet, eq(A.status, 'PAUSED')) },
      ask,
    ]);
    return 'parked';
  } catch (error) {
    if (!isRefused(error)) throw error;
    const row = refusedRow(error);
    // Mine and still not allowed: an input overtook the question. Not mine: whatever I wrote now could be wrong.
    if (row !== undefined && holds(row, lease.owner, seq, now)) return 'overtaken';
    throw new LeaseLost('The step was taken over before the question was asked.');
  }
};
