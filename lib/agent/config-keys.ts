import * as z from 'zod';

const text = (most: number) => z.string().max(most);
const texts = z.array(text(20_000).min(1)).max(200);
const names = z.array(text(200).min(1)).max(200);
const whole = (least: number, most: number) => z.int().min(least).max(most);

const isTimezone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
};

/** Every configuration key the code knows. Any other key is kept as it is given. */
export const CONFIG_SCHEMAS = {
  goals: texts.describe('What the agent is to achieve.'),
  instructions: texts.describe('How it is to work.'),
  constraints: texts.describe('What it must keep to.'),
  tools: names.describe('Names of the tools offered to the model; see GET /v1/tools.'),
  model: text(200).min(1).describe('Name of the model; without it the default of the organisation or the operator.'),
  fallbackModels: names.describe('Models to try when the first one is not available, in order.'),
  // The table holds no number between 0 and 1e-130.
  temperature: z
    .number()
    .min(0)
    .max(2)
    .refine((value) => value === 0 || value >= 1e-6, '0 or at least 0.000001'),
  userTimezone: text(100)
    .refine(isTimezone, 'an IANA time zone such as Europe/Berlin, or an offset such as +02:00')
    .describe('The zone in which the agent is told the time.'),
  knowledge: z.union([text(1_000), names]).describe('Knowledge the agent may look into.'),
  maxIterations: whole(1, 1_000_000).describe('Model calls of steps.'),
  maxSteps: whole(1, 1_000_000),
  maxReplyTokens: whole(1, 1_000_000).describe('Tokens of one reply.'),
  maxTokens: whole(1, 1_000_000_000_000).describe('All tokens of the run.'),
  maxCostUsd: z.number().min(0).max(1_000_000).describe('US dollars.'),
  maxSeconds: whole(1, 31_536_000).describe('Seconds spent RUNNING.'),
  repeatLimit: whole(1, 1_000).describe('Identical calls (same tool and arguments) in a row.'),
  contextTokens: whole(200, 2_000_000).describe('The window a step reads, in tokens.'),
  stepDelaySeconds: whole(0, 900).describe('Pause between two steps.'),
  permissionType: z.enum(['GOD_MODE', 'RESTRICTED']),
  permissionTools: names.describe('Exactly these need permission. Without it RESTRICTED means all but effect none.'),
  permissionTtlSeconds: whole(60, 2_592_000).describe(
    'How long a permission waits for a decision; without it, for ever.',
  ),
  permissionExpiry: z
    .enum(['reject', 'pause'])
    .describe('What becomes of a permission that nobody decided in time; reject is usual. It is never an approval.'),
  httpUnsafe: z
    .boolean()
    .describe('No server honours Idempotency-Key: http_request other than GET and HEAD runs once at most.'),
  httpUnsafeHosts: names.describe('The same for these hosts only.'),
} as const;

export type ConfigKey = keyof typeof CONFIG_SCHEMAS;

/** A configuration as it is stored: one entry per key, known keys checked, unknown ones as they were given. */
export type ConfigEntries = { readonly [key: string]: unknown };

/** The known keys with their types. */
export type KnownConfig = { readonly [Key in ConfigKey]?: z.output<(typeof CONFIG_SCHEMAS)[Key]> };

type KeyWithDefault =
  | 'goals'
  | 'instructions'
  | 'constraints'
  | 'fallbackModels'
  | 'userTimezone'
  | 'maxIterations'
  | 'maxSteps'
  | 'maxReplyTokens'
  | 'maxCostUsd'
  | 'maxSeconds'
  | 'repeatLimit'
  | 'contextTokens'
  | 'permissionType'
  | 'httpUnsafe'
  | 'httpUnsafeHosts';

export const DEFAULTS: { readonly [Key in KeyWithDefault]: z.output<(typeof CONFIG_SCHEMAS)[Key]> } = {
  goals: [],
  instructions: [],
  constraints: [],
  fallbackModels: [],
  userTimezone: 'UTC',
  maxIterations: 25,
  maxSteps: 1_000,
  maxReplyTokens: 4_096,
  maxCostUsd: 5,
  maxSeconds: 86_400,
  repeatLimit: 5,
  contextTokens: 24_000,
  permissionType: 'GOD_MODE',
  httpUnsafe: false,
  httpUnsafeHosts: [],
};

/** The typed configuration: what has a default is always there. `tools` missing means every tool there is. */
export type AgentConfig = KnownConfig & {
  readonly [Key in KeyWithDefault]: z.output<(typeof CONFIG_SCHEMAS)[Key]>;
};

export const isKnown = (key: string): key is ConfigKey => Object.hasOwn(CONFIG_SCHEMAS, key);
