import type { ModelOutcome } from '../../lib/model/model.ts';
import type { Fault } from './faults.ts';
import type { Script } from './sim-model.ts';
import type { Sim } from './sim-run.ts';

/** What one scenario promises beyond the invariants. */
export interface Expectations {
  /** Status of every execution in the end, where it is not COMPLETED. */
  readonly status?: string;
  readonly maxSends?: number;
  readonly maxPurchases?: number;
  /** Virtual milliseconds from the start to the end. */
  readonly maxMs?: number;
  /** How often the unsafe tool has to have run. */
  readonly pays?: number;
  /** No step is claimed twice. */
  readonly oneClaim?: boolean;
  /** No lease grows once it has ended. */
  readonly noRevival?: boolean;
}

export interface Scenario {
  readonly seed: number;
  readonly script: Script;
  readonly executions?: number;
  readonly stepDelaySeconds?: number;
  readonly modelLatencyMs?: number;
  /** What the model answers first, before the script. */
  readonly troubles?: readonly ModelOutcome[];
  readonly config?: { readonly [key: string]: unknown };
  readonly maxReceiveCount?: number;
  readonly busyOnce?: boolean;
  /** How long a run may stand before the person who answers everything steps in, virtual ms. */
  readonly patienceMs?: number;
  readonly expects?: Expectations;
  /** Without the clock nobody sweeps: what a message alone must carry on shows then. */
  readonly clock?: boolean;
  readonly faultAt?: (call: number, name: string) => Fault | undefined;
  /** People and clocks that act by themselves. */
  readonly people?: (sim: Sim) => void;
}
