/**
 * Names that the infrastructure (`cdk/`), the local cloud (`local/`) and the runtime (`lib/`, `functions/`) share.
 * This file imports nothing, so that no SDK reaches the CDK app and no CDK code reaches a bundle.
 */

/** Every deployed function. One folder `functions/<name>/handler.ts` each, exporting `handler`. */
export const FUNCTIONS = [
  'api',
  'step',
  'effect',
  'tick',
  'sweep',
  'dead-letter',
  'run-agent',
  'bootstrap',
  'fire',
  'ingest',
  'resolve',
  'assess',
] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

/** Environment variables of the functions. The template sets every one of them that a function reads. */
export const ENV = {
  stage: 'STAGE',
  table: 'TABLE_NAME',
  bucket: 'BUCKET_NAME',
  stepQueueUrl: 'STEP_QUEUE_URL',
  effectQueueUrl: 'EFFECT_QUEUE_URL',
  fireQueueUrl: 'FIRE_QUEUE_URL',
  inboxQueueUrl: 'INBOX_QUEUE_URL',
  assessQueueUrl: 'ASSESS_QUEUE_URL',
  bus: 'BUS_NAME',
  /** Pause between two steps, seconds, 0 to 900 (SQS `DelaySeconds`). */
  stepDelaySeconds: 'STEP_DELAY_SECONDS',
  /** How long a holder may be silent before its step is taken over, seconds. */
  leaseSeconds: 'LEASE_SECONDS',
  /** Comma list of `host:port` that the guarded fetch lets through although they are private. */
  egressAllow: 'EGRESS_ALLOW',
  /** How long a row of the audit is kept, days. */
  auditDays: 'AUDIT_DAYS',
  /** SSM SecureString with the operator's own model account (JSON); may be missing. */
  modelParameter: 'MODEL_PARAMETER',
  /** Prefix of the SSM SecureStrings that hold the organisations' provider keys. */
  secretPrefix: 'SECRET_PREFIX',
} as const;

/** The variables of the local cloud that stand above the template's values (contract, "Environment"). */
export const LOCAL_OVERRIDES = [ENV.stepDelaySeconds, ENV.leaseSeconds, ENV.egressAllow] as const;

/** Attributes and indexes of the single table. Both indexes are sparse and KEYS_ONLY. */
export const TABLE = {
  pk: 'pk',
  sk: 'sk',
  ttl: 'ttl',
  /** Agent or organisation → what it owns, newest first. */
  byOwner: { index: 'byOwner', pk: 'ownerPk', sk: 'ownerSk' },
  /** Sharded by time: "look here if nothing moved" (sweep) and "wake this then" (tick). */
  due: { index: 'due', pk: 'duePk', sk: 'dueSk' },
} as const;

/** EventBridge: what comes in and what goes out on the app's bus. */
export const BUS = {
  source: 'baton',
  runAgent: 'Run Agent',
  statusChanged: 'Execution Status Changed',
} as const;

/** Names of the two EventBridge rules that are the clock; `POST /_local/rules/{name}/fire` takes them. */
export const RULES = { tick: 'tick', sweep: 'sweep' } as const;

/** CloudWatch metrics that alarms look at. */
export const METRICS = {
  namespace: 'Baton',
  /** A message or row that cannot be read was set aside in the bucket under `parked/`. */
  parked: 'ParkedMessages',
  /** Executions that the sweep had to push: a chain had stalled. */
  stalled: 'StalledChains',
  steps: 'StepsCommitted',
  /** Rows of the `due` index that the clock failed on again and again, each time that it put one off. */
  putOff: 'DueRowsPutOff',
} as const;

/** Outputs of the stack, read by the scripts. */
export const OUTPUTS = { apiUrl: 'ApiUrl', bootstrapFunction: 'BootstrapFunctionName' } as const;
