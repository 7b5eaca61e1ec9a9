/** What differs between stages: one validated object, read from the CDK context. */
import type { Node } from 'constructs';
import * as z from 'zod';

/** `-c name=value` always arrives as text; a number written as text is read as a number, anything else is left to fail. */
const number = (schema: z.ZodNumber) =>
  z.preprocess((value) => (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value), schema);

const whole = (min: number, max: number, fallback: number) => number(z.int().min(min).max(max)).default(fallback);

/** CloudWatch keeps logs for these numbers of days and no others. */
const RETENTION_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653];

const egressAllow = z.string().regex(/^([^\s,:]+:\d{1,5}(,[^\s,:]+:\d{1,5})*)?$/, 'expected a comma list of host:port');

const schema = z.strictObject({
  /** Part of every name. At most 20 characters, so that the bucket's name stays within 63. */
  stage: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,19}$/, 'expected 1 to 20 lower-case letters, digits or hyphens, a letter first')
    .default('dev'),
  /** AWS Region; without it the Region of whoever deploys. */
  region: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'expected an AWS Region such as eu-central-1')
    .optional(),
  /** Ceilings of the on-demand table, request units a second: what a runaway loop can cost. */
  tableReadCeiling: whole(1, 40_000, 4_000),
  tableWriteCeiling: whole(1, 40_000, 1_000),
  /** Invocations at once per queue (2 to 1,000 is what an event source mapping takes). This is the throttle of the loop. */
  stepConcurrency: whole(2, 1_000, 10),
  effectConcurrency: whole(2, 1_000, 5),
  fireConcurrency: whole(2, 1_000, 5),
  resolveConcurrency: whole(2, 1_000, 5),
  assessConcurrency: whole(2, 1_000, 5),
  logRetentionDays: number(
    z.int().refine((days) => RETENTION_DAYS.includes(days), `expected one of ${RETENTION_DAYS}`),
  ).default(30),
  /** Requests a second and the burst above it, for the whole API and, apart, for what providers send to `/ingest`. */
  apiRate: whole(1, 10_000, 50),
  apiBurst: whole(1, 5_000, 100),
  ingestRate: whole(1, 10_000, 20),
  ingestBurst: whole(1, 5_000, 40),
  /** Where alarms go; without it they only change colour on the dashboard. */
  alarmEmail: z.email().optional(),
  /** Pause between two steps, seconds; SQS `DelaySeconds` ends at 900. */
  stepDelaySeconds: whole(0, 900, 2),
  /** How long the holder of a step may be silent before it is taken over, seconds. Below the step function's 900. */
  leaseSeconds: whole(5, 600, 30),
  /** How long it is kept who did what, days. */
  auditDays: whole(1, 3_650, 400),
  /** Private `host:port` pairs that the guarded fetch lets through. */
  egressAllow: egressAllow.default(''),
});

export type StageConfig = z.infer<typeof schema>;

/** Names of the context keys, as `-c name=value` takes them. */
export const CONFIG_KEYS = Object.keys(schema.shape);

/**
 * Reads the stage's configuration: `-c name=value` first, then the entry of `stages` (context of `cdk.json`) under the
 * stage's name, then the defaults.
 *
 * @throws Error naming each field at fault, what was expected and how it is set
 */
export function stageConfig(node: Node): StageConfig {
  const stage: unknown = node.tryGetContext('stage') ?? 'dev';
  const stages: unknown = node.tryGetContext('stages') ?? {};
  const committed = z.record(z.string(), z.record(z.string(), z.unknown())).safeParse(stages);
  if (!committed.success) {
    throw new Error(`stage configuration: context "stages" must map stage names to objects of settings`);
  }
  const own = typeof stage === 'string' ? committed.data[stage] : undefined;
  const flags = CONFIG_KEYS.flatMap((key) => {
    const value: unknown = node.tryGetContext(key);
    return value === undefined ? [] : [[key, value] as const];
  });
  const parsed = schema.safeParse({ ...own, ...Object.fromEntries(flags), stage });
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => {
    const field = issue.path.join('.') || 'stages';
    return `  ${field}: ${issue.message} (set with -c ${field}=… or under "stages" in cdk.json)`;
  });
  throw new Error(`stage configuration of ${JSON.stringify(stage)} is not valid:\n${faults.join('\n')}`);
}
