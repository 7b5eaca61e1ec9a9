import type { TracedRequest } from '../local/gateway/trace.ts';
import type { Assembly } from '../local/template/assembly.ts';
import type { BenchCloud } from './cloud.ts';
import { medianWork, type Observer, type Work, workOf } from './observe.ts';
import { invocationsOf, pollerRequestsPerMessage, useOf } from './rounds.ts';
import { median } from './stats.ts';
import { functionOf } from './steps.ts';

/** What one step of a workflow asks. `undefined` where none was seen. */
export interface WorkflowStep {
  readonly rounds: number;
  readonly work: Work;
}

export interface WorkflowUnits {
  /** A task of `fixed-task`: one model call, one tool. */
  readonly task: WorkflowStep | undefined;
  /** A TASK_QUEUE finishes a task and takes the next; no model call. */
  readonly pop: WorkflowStep | undefined;
  /** A CONDITION with an expression; no model call. */
  readonly condition: WorkflowStep | undefined;
}

/**
 * The median of a run's steps that are like each other: those after the first `skipped`, without the one that ends the run,
 * which is a transaction.
 */
export const stepsBetween = (
  lines: readonly TracedRequest[],
  assembly: Pick<Assembly, 'functions'>,
  role: string,
  skipped: number,
): WorkflowStep | undefined => {
  const poller = pollerRequestsPerMessage(lines, role);
  const own = invocationsOf(lines, role)
    .filter((requests) => requests.some(({ action }) => action === 'PutItem'))
    .filter((requests) => !requests.some(({ action }) => action === 'TransactWriteItems'))
    .toSorted((a, b) => (a[0]?.start ?? 0) - (b[0]?.start ?? 0))
    .slice(skipped);
  if (own.length === 0) return undefined;
  const work = medianWork(own.map((requests) => workOf(requests, assembly)));
  return {
    rounds: median(own.map((requests) => useOf(requests).rounds)) ?? 0,
    work: { ...work, requests: work.requests + poller, sqsRequests: work.sqsRequests + poller },
  };
};

const TASKS = 3; // as many as `fixed-task` plans
const POPS = 6;
const CONDITIONS = 6;

const popping = {
  name: 'bench-pops',
  start: 'queue',
  steps: {
    queue: { kind: 'TASK_QUEUE', instruction: 'List the tasks. {goals}', next: { default: 'queue', COMPLETE: 'done' } },
    done: { kind: 'END', result: 'done' },
  },
};

const deciding = {
  name: 'bench-conditions',
  start: 'c1',
  steps: {
    ...Object.fromEntries(
      Array.from({ length: CONDITIONS }, (_, index) => [
        `c${index + 1}`,
        {
          kind: 'CONDITION',
          expression: 'size(last) < 8000',
          next: { YES: index + 1 < CONDITIONS ? `c${index + 2}` : 'done', NO: 'done' },
        },
      ]),
    ),
    done: { kind: 'END', result: 'done' },
  },
};

/** Each workflow once, alone. Steps with a model call are at the default delay, quiet ones follow at once as always. */
export const measureWorkflows = async (cloud: BenchCloud, observer: Observer): Promise<WorkflowUnits> => {
  for (const workflow of [popping, deciding]) await cloud.call('POST', '/v1/workflows', workflow);
  const { assembly } = observer;
  const role = functionOf(assembly, 'step').roleLogicalId;
  const once = async (seconds: number, workflow: string, tasks: number, skipped: number) => {
    const script = { run: workflow, steps: TASKS, calls: 1, tasks, shared: true };
    const run = async () => cloud.completed(await cloud.begin(script, {}, workflow), 120);
    return stepsBetween(await observer.during(seconds, run), assembly, role, skipped);
  };
  return {
    // After the plan.
    task: await once(15, 'fixed-task', TASKS, 1),
    // After the list, and the first task, which has none before it to finish.
    pop: await once(8, popping.name, POPS, 2),
    condition: await once(6, deciding.name, 0, 1),
  };
};
