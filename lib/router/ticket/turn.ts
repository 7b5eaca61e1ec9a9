import type { Execution } from '../../execution/execution.ts';
import { A } from '../../execution/execution.ts';
import { type Change, set } from '../../kernel/table.ts';
import type { Policy } from '../policy/policy.ts';
import { LENT_STEPS, type SlotKind } from './slots.ts';
import { perTurn } from './worker.ts';

/** What a turn begins with: the limit of model calls counts for each turn anew, and a lent place is for a few steps. */
export const turnChanges =
  (policy: Policy, slot: SlotKind) =>
  (execution: Execution): readonly Change[] => [
    set(A.maxIterations, execution.calls + perTurn(policy.worker)),
    ...(slot === 'human' ? [set(A.turnUntil, execution.seq + LENT_STEPS - 1)] : []),
  ];

/** It stands between two turns, and nobody has paused it. */
export const standsBetween = ({ status, parked }: Pick<Execution, 'status' | 'parked'>): boolean =>
  status === 'WAITING_FOR_INPUT' && parked !== undefined;
