import type { Blobs, Clock, Log, Metrics, Queue } from '../../kernel/ports.ts';
import type { Table, Write } from '../../kernel/table.ts';
import type { ModelAccount, ModelClient } from '../../model/model.ts';
import type { ModelPrice } from '../../model/prices.ts';
import type { Files, GuardedFetch, Tool } from '../../tools/tool.ts';
import type { Execution } from '../execution.ts';
import type { StepMessage } from '../message.ts';
import type { AskRow } from '../rows.ts';
import type { Status } from '../status.ts';
import type { Crowd } from './crowd.ts';
import type { RowMemory } from './row-memory.ts';

/** A model as one run uses it. */
export interface ResolvedModel {
  readonly account: ModelAccount;
  readonly model: string;
  /** Missing: the price is unknown, cost counts 0 and the execution says so. */
  readonly price?: ModelPrice | undefined;
}

/** One change of status, as the floors above hear of it. */
export interface StatusChange {
  readonly execution: Execution;
  readonly from: Status;
  readonly to: Status;
  readonly reason: string | undefined;
  /** What stopped it, for people; where `reason` says that something did. */
  readonly message?: string | undefined;
  readonly at: number;
  /** Seconds by which the news of it steps aside for others that wait to be woken. */
  readonly aside?: number | undefined;
}

/** A permission or question that is put to a person (`pending`), or that nobody is waited for any more (all other states). */
export interface AskChange {
  readonly ask: Omit<AskRow, 'v'>;
  readonly at: number;
}

/**
 * Seam for the floors above: rows that must be written in the very transaction of a status change (store, then act), and
 * the wake-up that follows it. `wake` may be lost; the rows carry their own mark.
 */
export interface UpperFloors {
  writes(change: StatusChange): readonly Write[];
  /** The same for what people are asked, which can change while the status stays: a decision about a paused run. */
  asks?(change: AskChange): readonly Write[];
  wake(change: StatusChange): Promise<void>;
  /**
   * After a commit, at most once a minute for a run that runs, and after each into one that does not. It may be lost; what
   * it does has to be made good by the next one, or by the next change of status.
   */
  committed?(execution: Pick<Execution, 'orgId' | 'executionId'>): Promise<void>;
  /** Rows for the moment when an organisation has nothing left of its budget for the day. */
  daySpent?(spent: DaySpent): readonly Write[];
  /** Rows for the commit by which a run has spent the larger part of its budget, and the wake-up after it. */
  warns?(warning: BudgetWarning): readonly Write[];
  wakeWarning?(warning: BudgetWarning): Promise<void>;
}

/** The runs of an organisation may spend nothing more on a UTC day. */
export interface DaySpent {
  readonly orgId: string;
  readonly day: string;
  /** Micro-dollars. */
  readonly budget: number;
}

/** A run goes on and has spent the larger part of what it may. */
export interface BudgetWarning {
  readonly execution: Execution;
  /** Spent so far, micro-dollars. */
  readonly cost: number;
  readonly at: number;
}

export interface StepSettings {
  readonly leaseMs: number;
  readonly stepDelaySeconds: number;
  /** All waits for the model of one step together; above it a person is asked. */
  readonly maxWaitMs: number;
}

/** What every use case of an execution touches. */
export interface ExecutionDeps {
  readonly table: Table;
  readonly steps: Queue<StepMessage>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly upper: UpperFloors;
}

export interface StepDeps extends ExecutionDeps {
  readonly blobs: Blobs;
  /** What this process remembers of rows that never change; it dies with the process. */
  readonly memory: RowMemory;
  /** Without it nobody steps aside. */
  readonly crowd?: Crowd;
  readonly models: ModelClient;
  /** `undefined`: no model is configured. May answer from memory for a while, unless `fresh`. */
  readonly resolveModel: (
    orgId: string,
    model: string | undefined,
    options?: { readonly fresh?: boolean },
  ) => Promise<ResolvedModel | undefined>;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly filesOf: (orgId: string, executionId: string) => Files;
  readonly fetch: GuardedFetch;
  /** A name nobody else has, for one processing of one message. */
  readonly newOwner: () => string;
  readonly random: () => number;
  readonly settings: StepSettings;
}

/** This delivery is not finished: the message stays in the queue and comes back. */
export class NotYet extends Error {
  override readonly name = 'NotYet';
  /** Part of the protocol, not a fault: the log says so. */
  readonly expected = true;
}
