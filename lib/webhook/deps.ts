import type { Log, Queue } from '../kernel/ports.ts';
import type { Table } from '../kernel/table.ts';
import type { AttemptDeps } from './attempt.ts';
import type { Endpoint } from './endpoint.ts';
import type { Gate } from './gate.ts';
import type { WebhookMessage } from './message.ts';

export interface WebhookDeps extends AttemptDeps {
  readonly table: Table;
  readonly log: Log;
  readonly webhooks: Queue<WebhookMessage>;
  /** 0 to 1. */
  readonly random: () => number;
}

/** An endpoint and its gate, as one read found them. */
export interface Target {
  readonly endpoint: Endpoint;
  readonly gate: Gate;
}
