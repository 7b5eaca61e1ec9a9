import type { ModelOutcome, ModelRequest } from '../../lib/model/model.ts';
import type { WorkflowDefinition } from '../../lib/workflow/definition.ts';
import type { ClockRange, Fault } from './faults.ts';
import type { Script, SimAnswer } from './sim-model.ts';
import type { Sim } from './sim-run.ts';

/** What one scenario promises beyond the invariants. */
export interface Expectations {
  /** Status of every execution in the end, where it is not COMPLETED. */
  readonly status?: string;
  readonly maxSends?: number;
  readonly maxPurchases?: number;
  /** Virtual milliseconds from the start to the end. */
  readonly maxMs?: number;
  /** What every execution comes to that is COMPLETED, unless somebody had more to say. */
  readonly result?: string;
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
  /** How far the clock of the nth process is ahead of the true time, ms: steps, commands, sweep and dead letters alike. */
  readonly skewOf?: (process: number) => number;
  /** Jumps of clocks end here; without it they go as far as they go. */
  readonly clockRange?: ClockRange;
  /** How long a frozen process stands, from and to, ms. Without it as long as a lease. */
  readonly freezeMs?: readonly [from: number, to: number];
  /** Each permission is decided by two people at once, and by a third who comes late. */
  readonly decidedTwice?: boolean;
  /** The same at the calls of people, `tick` and `sweep`, from the start of the run on. */
  readonly outsideFaultAt?: (call: number, name: string) => Fault | undefined;
  /** The agent's workflow; then the model answers by the request alone. */
  readonly workflow?: WorkflowDefinition;
  readonly answers?: (request: ModelRequest) => SimAnswer;
  /** What the person says to the nth permission; without it yes to all. */
  readonly approves?: (nth: number) => boolean;
  /** The effect function looks at the books of all runs, again and again, while they run. */
  readonly books?: boolean;
  /** The runs work for a ticket: calls may end their turns. */
  readonly ticket?: boolean;
  /** Of the organisation, micro-dollars. */
  readonly dailyBudget?: number;
  /** Tokens that the provider counts; without it each call is of one size. */
  readonly usageOf?: (request: ModelRequest) => { readonly input: number; readonly output: number };
  /** Seconds by which what follows on the end of a wait steps aside for others that wait. */
  readonly aside?: number;
  /** People and clocks that act by themselves. */
  readonly people?: (sim: Sim) => void;
}
