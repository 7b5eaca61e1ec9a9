import * as z from 'zod';
import { UnreadableRow } from '../kernel/errors.ts';
import { keys, owner } from '../kernel/keys.ts';
import type { Item, Value } from '../kernel/table.ts';
import { count, time } from './row-fields.ts';
import { STATUSES, type Status } from './status.ts';
import { startingWith, usageText, usageTextOf } from './used.ts';

/** Version of the execution row that this code writes and reads. */
export const EXECUTION_VERSION = 1;

/**
 * Attribute names of the execution row. They are short because every step writes this row twice and DynamoDB charges
 * each started KB: the row of a running execution must stay below 1,024 bytes.
 */
export const A = {
  version: 'v',
  executionId: 'e',
  orgId: 'o',
  agentId: 'a',
  projectId: 'p',
  name: 'nm',
  status: 'st',
  pausedFrom: 'pf',
  reason: 'rs',
  errorCode: 'ec',
  errorMessage: 'em',
  result: 'res',
  resultBlob: 'rb',
  seq: 'sq',
  phase: 'ph',
  stepId: 'sp',
  queues: 'tq',
  leaseOwner: 'lo',
  leaseUntil: 'lu',
  leaseMessage: 'lh',
  attempts: 'at',
  claims: 'cl',
  notBefore: 'nb',
  waitedMs: 'wm',
  lastError: 'le',
  standIn: 'sm',
  standInUntil: 'su',
  messageId: 'lm',
  inputs: 'in',
  wakingInputs: 'iw',
  consumed: 'ic',
  calls: 'ca',
  tokensIn: 'ti',
  tokensOut: 'to',
  cost: 'co',
  reserved: 're',
  worst: 'w',
  priceUnknown: 'pu',
  maxIterations: 'mi',
  maxSteps: 'ms',
  maxTokens: 'mt',
  maxCost: 'mc',
  maxSeconds: 'mx',
  idleSteps: 'is',
  runningMs: 'rm',
  runningSince: 'ru',
  windowFrom: 'wf',
  summarySeq: 'ws',
  windowTokens: 'wt',
  repeatHash: 'rh',
  repeatCount: 'rc',
  dueBackoff: 'db',
  waitUntil: 'wu',
  wakeOnInput: 'wi',
  created: 'cr',
  updated: 'up',
  finished: 'fi',
  since: 'si',
  /** Changes that others were told of; see `numbered.ts`. */
  changes: 'ch',
  /** The `maxCost` whose larger part was told to be spent. */
  budgetWarned: 'bw',
  scheduleId: 'sc',
  /** Of a run that another run's call started; see `children/`. */
  parentId: 'pa',
  parentSeq: 'pq',
  parentN: 'pn',
  rootId: 'ro',
  depth: 'dp',
  /** Set aside for runs that this one started and that have not ended, and what those cost that have. */
  carved: 'cv',
  childCost: 'cc',
  openChildren: 'oc',
  children: 'cn',
  /** Of a run at the top: all that are open below it. */
  openBelow: 'ob',
  usage: 'us',
  errors: 'er',
  budgetDay: 'bd',
  budgetUpTo: 'bu',
  duePk: 'duePk',
  dueSk: 'dueSk',
} as const;

/** The execution row as the code reads it. Money in micro-dollars, times in ms since the epoch. */
const rowSchema = z.object({
  [A.version]: z.literal(EXECUTION_VERSION),
  [A.executionId]: z.string(),
  [A.orgId]: z.string(),
  [A.agentId]: z.string(),
  [A.projectId]: z.string().optional(),
  [A.name]: z.string(),
  [A.status]: z.enum(STATUSES),
  [A.pausedFrom]: z.enum(STATUSES).optional(),
  [A.reason]: z.string().optional(),
  [A.errorCode]: z.string().optional(),
  [A.errorMessage]: z.string().optional(),
  [A.result]: z.string().optional(),
  [A.resultBlob]: z.string().optional(),
  [A.seq]: z.number().int().min(1),
  [A.phase]: z.enum(['think', 'summarise']),
  [A.stepId]: z.string(),
  /** Of a workflow's task queues: generation, index of the next task, index after the last, seq of the last pop. */
  [A.queues]: z.record(z.string(), z.tuple([count, count, count, count])).optional(),
  [A.leaseOwner]: z.string().optional(),
  [A.leaseUntil]: time.optional(),
  [A.leaseMessage]: z.string().optional(),
  [A.attempts]: z.number().int().default(0),
  [A.claims]: count.default(0),
  [A.notBefore]: time.optional(),
  [A.waitedMs]: count.default(0),
  [A.lastError]: z.string().optional(),
  [A.standIn]: count.optional(),
  [A.standInUntil]: time.optional(),
  [A.messageId]: z.string().optional(),
  [A.inputs]: count.default(0),
  [A.wakingInputs]: count.default(0),
  [A.consumed]: count.default(0),
  [A.calls]: count.default(0),
  [A.tokensIn]: count.default(0),
  [A.tokensOut]: count.default(0),
  [A.cost]: count.default(0),
  [A.reserved]: z.number().int().default(0),
  [A.worst]: count.default(0),
  [A.priceUnknown]: z.boolean().optional(),
  [A.maxIterations]: count,
  [A.maxSteps]: count,
  [A.maxTokens]: count.optional(),
  [A.maxCost]: count,
  [A.maxSeconds]: count,
  [A.idleSteps]: count.default(0),
  [A.runningMs]: count.default(0),
  [A.runningSince]: time.optional(),
  [A.windowFrom]: count.default(0),
  [A.summarySeq]: count.optional(),
  [A.windowTokens]: count.default(0),
  [A.repeatHash]: z.string().optional(),
  [A.repeatCount]: count.default(0),
  [A.dueBackoff]: count.optional(),
  [A.waitUntil]: time.optional(),
  [A.wakeOnInput]: z.boolean().optional(),
  [A.created]: time,
  [A.updated]: time,
  [A.finished]: time.optional(),
  [A.since]: time,
  [A.changes]: count.default(0),
  [A.budgetWarned]: count.optional(),
  [A.scheduleId]: z.string().optional(),
  [A.parentId]: z.string().optional(),
  [A.parentSeq]: count.optional(),
  [A.parentN]: count.optional(),
  [A.rootId]: z.string().optional(),
  [A.depth]: count.default(0),
  [A.carved]: count.default(0),
  [A.childCost]: count.default(0),
  [A.openChildren]: count.default(0),
  [A.children]: count.default(0),
  [A.openBelow]: count.default(0),
  [A.usage]: usageText.optional(),
  /** How often it went into ERROR_PAUSED or FAILED. */
  [A.errors]: count.default(0),
  /** The organisation's daily budget: on this UTC day, `cost` and `reserved` together may go up to so many micro-dollars. */
  [A.budgetDay]: z.string().optional(),
  [A.budgetUpTo]: count.optional(),
  [A.duePk]: z.string().optional(),
  [A.dueSk]: z.string().optional(),
});

type Names = typeof A;
type Row = z.output<typeof rowSchema>;

/** What the rest of the code sees: long names, defaults filled in. */
export type Execution = {
  readonly [Field in keyof Names as Field extends 'version' ? never : Field]: Row[Names[Field]];
};

const FIELDS = Object.entries(A);

/** @throws UnreadableRow when the row was written by a newer version or is damaged; it is never half-read. */
export const readExecution = (item: Item): Execution => {
  const parsed = rowSchema.safeParse(item);
  if (!parsed.success) throw new UnreadableRow(item, z.prettifyError(parsed.error));
  const row: { readonly [attribute: string]: unknown } = parsed.data;
  const execution: { [field: string]: unknown } = {};
  for (const [field, attribute] of FIELDS) execution[field] = row[attribute];
  return execution as Execution;
};

/** The call that starts a run. */
export interface ParentCall {
  readonly executionId: string;
  readonly seq: number;
  readonly n: number;
  readonly rootId: string;
  /** Of the run that is started: 1 below a run that nobody's call started. */
  readonly depth: number;
}

export interface NewExecution {
  readonly executionId: string;
  readonly orgId: string;
  readonly agentId: string;
  readonly projectId?: string | undefined;
  readonly name: string;
  readonly stepId: string;
  readonly limits: Limits;
  /** Micro-dollars one step can cost at most; 0 when the price is unknown. */
  readonly worst: number;
  readonly priceUnknown: boolean;
  readonly windowTokens: number;
  /** The model it begins with; missing while none is configured. */
  readonly model?: string | undefined;
  /** Of the schedule that started it. */
  readonly scheduleId?: string | undefined;
  readonly parent?: ParentCall | undefined;
}

/** Limits of one run. Money in micro-dollars, `maxSeconds` counts time spent RUNNING. */
export interface Limits {
  readonly maxIterations: number;
  readonly maxSteps: number;
  readonly maxTokens?: number | undefined;
  readonly maxCost: number;
  readonly maxSeconds: number;
}

/** The row of an execution that starts now. */
export const newExecutionItem = (given: NewExecution, now: number, mark: { duePk: string; dueSk: string }): Item => {
  const attributes: { [attribute: string]: Value | undefined } = {
    [A.version]: EXECUTION_VERSION,
    [A.executionId]: given.executionId,
    [A.orgId]: given.orgId,
    [A.agentId]: given.agentId,
    [A.projectId]: given.projectId,
    [A.name]: given.name,
    [A.status]: 'RUNNING' satisfies Status,
    [A.seq]: 1,
    [A.phase]: 'think',
    [A.stepId]: given.stepId,
    [A.worst]: given.worst,
    [A.priceUnknown]: given.priceUnknown ? true : undefined,
    [A.maxIterations]: given.limits.maxIterations,
    [A.maxSteps]: given.limits.maxSteps,
    [A.maxTokens]: given.limits.maxTokens,
    [A.maxCost]: given.limits.maxCost,
    [A.maxSeconds]: given.limits.maxSeconds,
    // Written out, because guards compare them.
    [A.inputs]: 0,
    [A.wakingInputs]: 0,
    [A.windowFrom]: 0,
    [A.windowTokens]: given.windowTokens,
    [A.runningSince]: now,
    [A.created]: now,
    [A.updated]: now,
    [A.since]: now,
    // The start is the first of them.
    [A.changes]: 1,
    [A.scheduleId]: given.scheduleId,
    [A.parentId]: given.parent?.executionId,
    [A.parentSeq]: given.parent?.seq,
    [A.parentN]: given.parent?.n,
    [A.rootId]: given.parent?.rootId,
    [A.depth]: given.parent?.depth,
    [A.usage]: given.model === undefined ? undefined : usageTextOf(startingWith(given.model)),
    ownerPk: owner.executions(given.orgId),
    ownerSk: given.executionId,
    ...mark,
  };
  const present = Object.entries(attributes).filter((entry): entry is [string, Value] => entry[1] !== undefined);
  return { ...keys.execution(given.orgId, given.executionId), ...Object.fromEntries(present) };
};
