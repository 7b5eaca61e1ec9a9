import type { ConfigEntries } from '../agent/config-keys.ts';
import type { Alongside } from '../tenancy/alongside.ts';
import type { Listed, PageRequest } from '../tenancy/list-rows.ts';
import type {
  ExecutionStatus,
  ExecutionView,
  FeedRowView,
  FileView,
  PermissionStatus,
  PermissionView,
  StatusReport,
  StepView,
} from './execution-views.ts';

/**
 * What the routes need of executions. Every call is of one organisation: an id of another one is a 404, as is one that
 * never was. Errors are AppErrors; anything else is our own fault and becomes a 500.
 */
export interface ExecutionService {
  /**
   * Writes the execution and wakes it. `config` is checked already and holds `goals` and `instructions` too.
   * @throws AppError 404 for the agent, 400 when the merged configuration does not fit
   */
  start(given: StartExecution): Promise<ExecutionView>;
  get(at: ExecutionAt): Promise<ExecutionView>;
  /** Newest first. */
  list(
    orgId: string,
    filter: { readonly agentId?: string | undefined; readonly status?: ExecutionStatus | undefined },
    page: PageRequest,
  ): Promise<Listed<ExecutionView>>;
  /** @throws AppError 409 when it has ended */
  patchLimits(at: ExecutionAt, limits: LimitChanges, actor: string): Promise<ExecutionView>;
  /** @throws AppError 409 naming both states */
  pause(at: ExecutionAt, actor: string): Promise<ExecutionView>;
  /** @throws AppError 409 naming both states */
  resume(at: ExecutionAt, actor: string): Promise<ExecutionView>;
  /** @throws AppError 409 naming both states */
  terminate(at: ExecutionAt, actor: string): Promise<ExecutionView>;
  /** Ends every execution of an agent that has not ended; used when the agent is deleted. Repeating it goes on. */
  terminateAll(orgId: string, agentId: string): Promise<void>;
  /** Wakes what stood still while the organisation was stopped. Repeating it does no harm. */
  wakeOrganisation(orgId: string): Promise<void>;
  /** Committed rows after a position, in order, at most `limit`. One look: waiting for more is the route's. */
  feed(at: ExecutionAt, page: { readonly after?: FeedPosition | undefined; readonly limit: number }): Promise<FeedPage>;
  /** In the order of `seq`. */
  steps(at: ExecutionAt, page: PageRequest): Promise<Listed<StepView>>;
  /** @throws AppError 409 when it has ended */
  input(given: GiveInput): Promise<ExecutionView>;
  /** Sorted by path. */
  listFiles(at: ExecutionAt, page: PageRequest): Promise<Listed<FileView>>;
  /** `undefined` when there is no such file. @throws AppError 400 for a path that cannot be one */
  readFile(at: ExecutionAt, path: string): Promise<Uint8Array | undefined>;
  /** Newest first. */
  listPermissions(
    orgId: string,
    filter: { readonly status?: PermissionStatus | undefined; readonly executionId?: string | undefined },
    page: PageRequest,
  ): Promise<Listed<PermissionView>>;
  /** @throws AppError 404 */
  getPermission(orgId: string, permissionId: string): Promise<PermissionView>;
  /** @throws AppError 404; 409 when it is decided already, or is for another call than the one given */
  decide(given: Decision): Promise<PermissionView>;
  /** How the organisation's chains and queues stand. */
  status(orgId: string): Promise<StatusReport>;
}

export interface ExecutionAt {
  readonly orgId: string;
  readonly executionId: string;
}

export interface StartExecution {
  readonly orgId: string;
  readonly agentId: string;
  /** Id of the key that starts it. */
  readonly actor: string;
  readonly name?: string | undefined;
  /** Overrides key by key, pinned for this run. */
  readonly config: ConfigEntries;
  readonly alongside: Alongside<ExecutionView>;
}

export interface LimitChanges {
  readonly maxIterations?: number | undefined;
  readonly maxSteps?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly maxCostUsd?: number | undefined;
  readonly maxSeconds?: number | undefined;
}

/** Position of a feed row; the next page begins behind it. */
export interface FeedPosition {
  readonly seq: number;
  readonly n: number;
}

export interface FeedPage {
  readonly items: readonly FeedRowView[];
  /** True when the execution has ended and nothing comes after these rows. */
  readonly ended: boolean;
}

export interface GiveInput extends ExecutionAt {
  readonly content: string;
  readonly actor: string;
  /** The same input given again under this key counts once. */
  readonly dedupeKey?: string | undefined;
  readonly alongside: Alongside<ExecutionView>;
}

export interface Decision {
  readonly orgId: string;
  readonly permissionId: string;
  readonly decision: 'approve' | 'reject';
  readonly feedback?: string | undefined;
  readonly argumentsHash?: string | undefined;
  /** Id of the key that decides. */
  readonly actor: string;
}
