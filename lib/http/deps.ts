import type { Ids } from '../kernel/ids.ts';
import type { Clock, Log, Queue, Secrets } from '../kernel/ports.ts';
import type { Table } from '../kernel/table.ts';
import type { ModelClient } from '../model/model.ts';
import type { RequestLog } from '../observe/logger.ts';
import type { PostingMessage } from '../router/message.ts';
import type { ProviderFor } from '../router/outbox/deps.ts';
import type { PreviewDeps } from '../router/policy/preview-policy.ts';
import type { NotifyPolicyChange } from '../router/policy/put-policy.ts';
import type { TicketDeps } from '../router/ticket/deps.ts';
import type { FireMessage } from '../schedule/message.ts';
import type { Authenticator } from '../tenancy/authenticate.ts';
import type { EndpointDeps } from '../webhook/change-endpoint.ts';
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
  /** Tries model accounts. */
  readonly models: ModelClient;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log & Pick<RequestLog, 'append'>;
  readonly authenticator: Authenticator;
  readonly executions: ExecutionService;
  /** Wakes schedules that are due soon. */
  readonly fires: Queue<FireMessage>;
  /** Wakes deliveries, and judges where they may go. */
  readonly webhooks: Pick<EndpointDeps, 'webhooks' | 'judgeUrl'>;
  /** Days that a row of the audit is kept. */
  readonly auditDays?: number;
  readonly tools: readonly ToolDescription[];
  /** Names of the built-in workflows; `goal` is among them. */
  readonly workflows: readonly string[];
  /** Wakes what wants to go out in discussions. */
  readonly postings: Queue<PostingMessage>;
  /** Asks a provider in a source's name. */
  readonly provider: ProviderFor;
  /** Whether a text names us, as the channel of its source reads it. */
  readonly names: PreviewDeps['names'];
  /** What people do to tickets. */
  readonly tickets: TicketDeps;
  /** Tells running tickets of a new policy. */
  readonly notifyPolicyChange?: NotifyPolicyChange;
}
