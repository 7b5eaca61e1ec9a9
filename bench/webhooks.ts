import type { BenchCloud } from './cloud.ts';
import { addedBy, type Observer, type Work } from './observe.ts';
import type { Receiver } from './receiver.ts';

/** What telling one event adds, to however many endpoints. */
export interface Told {
  readonly work: Work;
  readonly httpRequests: number;
}

export interface WebhookUnits {
  readonly one: Told;
  readonly three: Told;
}

/** A run begins and ends: so many changes of status, each an event. */
const EVENTS = 2;

/**
 * @param run a run from start to end
 * @param plain what it takes when nobody is told
 */
export const measureWebhooks = async (
  cloud: BenchCloud,
  observer: Observer,
  receiver: Receiver,
  run: () => Promise<unknown>,
  plain: Work,
): Promise<WebhookUnits> => {
  let endpoints = 0;
  const tell = async (count: number): Promise<Told> => {
    for (; endpoints < count; endpoints++) {
      const url = `http://${receiver.host}/${endpoints}`;
      await cloud.call('POST', '/v1/webhooks', { url, events: ['execution.status_changed'] });
    }
    // Secrets are read once by each process.
    await observer.during(8, run);
    const before = receiver.taken();
    const work = addedBy(await observer.workDuring(8, run), plain, EVENTS);
    return { work, httpRequests: (receiver.taken() - before) / EVENTS };
  };
  return { one: await tell(1), three: await tell(3) };
};
