import type { Ids } from '../kernel/ids.ts';
import type { Clock, Log, Secrets } from '../kernel/ports.ts';
import type { Table } from '../kernel/table.ts';
import type { RequestLog } from '../observe/logger.ts';
import type { Authenticator } from '../tenancy/authenticate.ts';
import type { ExecutionService } from './execution-service.ts';

/** A tool as `GET /v1/tools` shows it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** `depends`: on the arguments and the agent's configuration. */
  readonly effect: 'none' | 'idempotent' | 'unsafe' | 'depends';
  /** JSON Schema of the arguments. */
  readonly parameters: { readonly [key: string]: unknown };
}

/** Everything the routes use. */
export interface ApiDeps {
  readonly table: Table;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log & Pick<RequestLog, 'append'>;
  readonly authenticator: Authenticator;
  readonly executions: ExecutionService;
  readonly tools: readonly ToolDescription[];
  /** Names of the workflows there are; `goal` is among them. */
  readonly workflows: readonly string[];
}
