import { setTimeout as sleep } from 'node:timers/promises';
import { A } from '../lib/execution/execution.ts';
import { due, keys } from '../lib/kernel/keys.ts';
import { RULES } from '../lib/names.ts';
import type { BenchCloud } from './cloud.ts';
import { addedBy, type Observer, type Work } from './observe.ts';
import { withRows } from './rows.ts';

export interface WaitUnits {
  /** What a wait of two seconds adds to its step: the parking, two changes of status, the second claim. */
  readonly short: Work;
  /** The same for one that is too long for a queue's delay, so that the clock wakes it. */
  readonly long: Work;
}

const SHORT_SECONDS = 2;
const LONG_SECONDS = 86_400;
/** From now, when the time of the long wait is moved: the clock sends its message with a delay, as it does. */
const MOVED_TO_MS = 2_000;

const untilItWaits = async (cloud: BenchCloud, id: string): Promise<void> => {
  const until = performance.now() + 60_000;
  while ((await cloud.api.execution(id)).status !== 'WAIT_STEP') {
    if (performance.now() > until) throw new Error(`${id} does not wait after 60 s.`);
    await sleep(100);
  }
};

/** A day is long: the time of the wait is moved to now, in all three places that know it. */
const bringForward = (cloud: BenchCloud, id: string): Promise<void> =>
  withRows(cloud, async (rows) => {
    const at = Date.now() + MOVED_TO_MS;
    const key = keys.execution(cloud.orgId, id);
    for (const { sk } of await rows.under(key.pk, 'WAIT#')) {
      await rows.change({ pk: key.pk, sk: String(sk) }, { until: at });
    }
    await rows.change(key, { [A.waitUntil]: at, [A.dueSk]: due.sk(at, id) });
  });

/** @param plain what the same run takes without a wait */
export const measureWaits = async (cloud: BenchCloud, observer: Observer, plain: Work): Promise<WaitUnits> => {
  const begin = (run: string, seconds: number): Promise<string> =>
    cloud.begin({ run, steps: 1, calls: 1, wait: seconds, shared: true }, { stepDelaySeconds: 0 });
  const short = await observer.workDuring(10, async () =>
    cloud.completed(await begin('short-wait', SHORT_SECONDS), 120),
  );
  const long = await observer.workDuring(12, async () => {
    const id = await begin('long-wait', LONG_SECONDS);
    await untilItWaits(cloud, id);
    await bringForward(cloud, id);
    await cloud.fire(RULES.tick);
    await cloud.completed(id, 120);
  });
  return { short: addedBy(short, plain), long: addedBy(long, plain) };
};
