import type { Lease } from '../../lease/lease.ts';
import type { Execution } from '../execution.ts';
import type { Delivery } from '../message.ts';
import type { StepDeps } from './deps.ts';

/** Everything one claimed step works with. */
export interface Turn {
  readonly deps: StepDeps;
  readonly lease: Lease;
  /** As it was claimed; with its reservation as it is now, once more was reserved for a long prompt (see `reserve.ts`). */
  execution: Execution;
  readonly delivery: Delivery;
  readonly claimedAt: number;
  readonly remainingMs: () => number;
  /** Micro-dollars a UTC day, where the organisation has set a budget. */
  readonly dailyBudget?: number | undefined;
}
