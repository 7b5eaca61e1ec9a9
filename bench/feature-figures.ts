import { costPerThousand, type EventUse, PACE } from './cost.ts';
import type { Features } from './features.ts';
import { type Figure, figure, hard } from './figure.ts';
import type { Work } from './observe.ts';
import { FULL } from './options.ts';
import { PRICES } from './prices.ts';
import { divided, most, quantile } from './stats.ts';
import type { Storm } from './storm.ts';
import type { WorkflowStep } from './workflows.ts';

const dollars = (id: string, label: string, use: EventUse | undefined): Figure =>
  figure(`${id}.usd`, `${label}: a thousand`, '$', use && costPerThousand(use, PRICES));

const units = (id: string, label: string, work: Work | undefined): readonly Figure[] => [
  figure(`${id}.writes`, `${label}: write units`, '', work?.writeUnits),
  figure(`${id}.reads`, `${label}: read units`, '', work?.readUnits),
  figure(`${id}.sqs`, `${label}: SQS requests`, '', work?.sqsRequests),
];

const step = (id: string, label: string, found: WorkflowStep | undefined): readonly Figure[] => [
  figure(`${id}.rounds`, `${label}: sequential rounds`, '', found?.rounds),
  ...units(id, label, found?.work),
  dollars(id, label, found?.work),
];

const event = (id: string, label: string, work: Work | undefined): readonly Figure[] => [
  figure(`${id}.requests`, `${label}: requests`, '', work?.requests),
  ...units(id, label, work),
  dollars(id, label, work),
];

/** What was promised for as many as the full run has, seconds. */
const MOST_LAG_SECONDS = 3;

/** Few of them say nothing about the promise: their lag has no verdict. */
const storm = (id: string, label: string, { count, lags, fired, again }: Storm): readonly Figure[] => {
  const at = (share: number): number | undefined => divided(quantile(lags, share), 1_000);
  const isFull = count >= FULL.storm;
  return [
    figure(`${id}.count`, `${label} of one second`, '', count),
    figure(`${id}.fired`, `${label} of one second: fired across a kill`, '', fired),
    figure(`${id}.again`, `${label} of one second: fired a second time`, '', again, hard(0)),
    figure(`${id}.p50`, `${label} of one second, across a kill: due → RUNNING, p50`, 's', at(0.5)),
    figure(
      `${id}.p95`,
      `${label} of one second, across a kill: due → RUNNING, p95`,
      's',
      at(0.95),
      isFull ? hard(MOST_LAG_SECONDS) : undefined,
    ),
    figure(
      `${id}.most`,
      `${label} of one second, across a kill: due → RUNNING, longest`,
      's',
      divided(most(lags), 1_000),
    ),
  ];
};

export interface MeasuredFeatures {
  readonly features: Features;
  /** Not measured in a quick run. */
  readonly storm: { readonly schedules: Storm; readonly waits: Storm } | undefined;
}

export const featureFigures = ({ features, storm: storms }: MeasuredFeatures): readonly Figure[] => {
  const { workflow, wait, schedule, webhook, rollUp, idleSchedules } = features;
  const perStep = (value: number | undefined): number | undefined => divided(value, PACE.stepsPerMinute);
  const idle = { ...NOTHING, ...idleSchedules };
  return [
    ...step('workflow.task', 'task of fixed-task', workflow.task),
    ...step('workflow.pop', 'TASK_QUEUE takes a task', workflow.pop),
    ...step('workflow.condition', 'CONDITION by expression', workflow.condition),
    ...event('wait.short', 'wait of 2 s', wait.short),
    ...event('wait.long', 'wait of a day', wait.long),
    ...(storms === undefined ? [] : storm('storm.waits', 'waits', storms.waits)),
    ...event('schedule.fire', 'fire of a schedule', schedule.fire),
    figure('schedule.idle', 'a thousand idle schedules a day: units', '', idle.readUnits + idle.writeUnits),
    // The units are a thousand schedules' already.
    figure('schedule.idle.usd', 'a thousand idle schedules a day', '$', costPerThousand(idle, PRICES) / 1_000),
    ...(storms === undefined ? [] : storm('storm.schedules', 'schedules', storms.schedules)),
    ...event('webhook.one', 'event to one endpoint', webhook.one.work),
    figure('webhook.one.http', 'event to one endpoint: HTTP requests', '', webhook.one.httpRequests),
    ...event('webhook.three', 'event to three endpoints', webhook.three.work),
    figure('webhook.three.http', 'event to three endpoints: HTTP requests', '', webhook.three.httpRequests),
    ...event('usage', 'roll-up of usage', rollUp),
    figure('usage.step.writes', 'roll-ups, for each step: write units', '', perStep(rollUp?.writeUnits)),
    figure('usage.step.reads', 'roll-ups, for each step: read units', '', perStep(rollUp?.readUnits)),
    figure(
      'usage.step.usd',
      'roll-ups, a million steps',
      '$',
      perStep(rollUp && costPerThousand(rollUp, PRICES) * 1_000),
    ),
  ];
};

const NOTHING: EventUse = {
  writeUnits: 0,
  readUnits: 0,
  sqsRequests: 0,
  busEvents: 0,
  lambdaRequests: 0,
  gbSeconds: 0,
};
