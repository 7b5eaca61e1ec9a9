import type { Assembly } from '../local/template/assembly.ts';
import { measureRollUp } from './books.ts';
import type { BenchCloud } from './cloud.ts';
import { type Idle, measureIdle } from './idle.ts';
import { makeObserver, type Work } from './observe.ts';
import type { Receiver } from './receiver.ts';
import { farSchedule, measureSchedules, type ScheduleUnits } from './schedules.ts';
import { measureWaits, type WaitUnits } from './waits.ts';
import { measureWebhooks, type WebhookUnits } from './webhooks.ts';
import { measureWorkflows, type WorkflowUnits } from './workflows.ts';

/** What everything around the single loop takes, counted. */
export interface Features {
  readonly workflow: WorkflowUnits;
  readonly wait: WaitUnits;
  readonly schedule: ScheduleUnits;
  readonly webhook: WebhookUnits;
  readonly rollUp: Work | undefined;
  /** What a thousand schedules that are not due add to an idle day, units. */
  readonly idleSchedules: { readonly readUnits: number; readonly writeUnits: number };
}

/** Schedules that stand by while the idle installation is looked at again. */
const STANDING_BY = 20;
const THOUSAND = 1_000;

/**
 * One after the other on a traced cloud on which nothing else runs.
 * @param idle the same cloud before anything was scheduled
 */
export const measureFeatures = async (
  cloud: BenchCloud,
  assembly: Assembly,
  traceFile: string,
  receiver: Receiver,
  idle: Idle,
): Promise<Features> => {
  const observer = makeObserver(assembly, traceFile);
  const agentId = await cloud.agent({ run: 'plain', steps: 1, calls: 1, shared: true }, { stepDelaySeconds: 0 });
  const run = async () => cloud.completed((await cloud.api.startExecution(agentId)).id, 120);
  // Processes that have started and know their model.
  await observer.during(8, run);
  const plain = await observer.workDuring(8, run);
  const workflow = await measureWorkflows(cloud, observer);
  const wait = await measureWaits(cloud, observer, plain);
  const schedule = await measureSchedules(cloud, observer, agentId, plain);
  const rollUp = await measureRollUp(cloud, observer);
  const webhook = await measureWebhooks(cloud, observer, receiver, run, plain);
  for (let made = 0; made < STANDING_BY; made++) await farSchedule(cloud, agentId);
  const beside = await measureIdle(cloud, assembly, traceFile);
  const forThousand = (units: number): number => (units * THOUSAND) / STANDING_BY;
  return {
    workflow,
    wait,
    schedule,
    webhook,
    rollUp,
    idleSchedules: {
      readUnits: forThousand(beside.readUnits - idle.readUnits),
      writeUnits: forThousand(beside.writeUnits - idle.writeUnits),
    },
  };
};
