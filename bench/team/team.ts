import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchCloud } from '../cloud.ts';
import { ASSESSOR, type TeamModel, WORKER } from './model.ts';

/** A message that was posted, as the team keeps it. */
export interface Kept {
  readonly id: string;
  readonly threadId: string;
  readonly text: string;
  readonly state: string;
  readonly receivedAt: string;
  readonly ticketIds: readonly string[];
  readonly decision?: { readonly decision: string; readonly at: string; readonly ticketId?: string };
}

/** A team that listens to a program of the bench. */
export interface Team {
  /** Posts a message. @param id of an earlier one it is a repeat */
  says(thread: string, words: string, more?: { readonly id?: string; readonly unheard?: boolean }): Promise<void>;
  /** All messages of these Threads, whatever became of them. */
  kept(threads: ReadonlySet<string>): Promise<readonly Kept[]>;
  /** Waits until none of these Threads has a message that waits. @throws Error when that takes too long */
  settled(threads: ReadonlySet<string>, seconds: number): Promise<readonly Kept[]>;
}

const SECRET = 'a-secret-of-the-bench';
const PERSON = 'ada';

export const startTeam = async (cloud: BenchCloud, model: TeamModel): Promise<Team> => {
  await cloud.call('PUT', '/v1/providers/team', {
    baseUrl: model.url,
    apiKey: 'bench',
    models: [ASSESSOR, WORKER].map((name) => ({ name, inputUsdPerM: 0.15, outputUsdPerM: 0.6 })),
  });
  const sourceOf = async (name: string) => {
    const { id, ingestUrl } = await cloud.call('POST', '/v1/sources', { kind: 'http', name, secrets: [SECRET] });
    return { id: String(id), url: String(ingestUrl) };
  };
  const heard = await sourceOf('heard');
  // No row of the policy admits it.
  const unheard = await sourceOf('unheard');
  await cloud.call('PUT', '/v1/policy', {
    mode: 'auto',
    maxWorkers: 16,
    allow: [{ sourceId: heard.id, actorId: PERSON }],
    admission: [{ sourceId: heard.id, scope: 'message', ceiling: 'explicit' }],
    grants: [],
    assessment: { model: ASSESSOR },
    worker: { model: WORKER },
  });

  const kept: Team['kept'] = async (threads) => {
    const found: Kept[] = [];
    for (let cursor: unknown; ; ) {
      const after: string = typeof cursor === 'string' ? `&cursor=${encodeURIComponent(cursor)}` : '';
      const page = await cloud.call('GET', `/v1/triggers?limit=100${after}`);
      found.push(...(page.items as readonly Kept[]));
      cursor = page.nextCursor;
      if (typeof cursor !== 'string') break;
    }
    return found.filter(({ text }) => threads.has(/^\[([\w-]+)\]/.exec(text)?.[1] ?? ''));
  };

  return {
    async says(thread, words, { id = randomUUID(), unheard: nobody = false } = {}) {
      const actor = { id: PERSON, type: 'user' };
      const body = JSON.stringify({ id, thread, actor, text: `[${thread}] ${words}` });
      const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
      const response = await fetch(nobody ? unheard.url : heard.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-baton-signature': signature },
        body,
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`Ingest answered ${response.status}: ${text}`);
    },
    kept,
    async settled(threads, seconds) {
      const until = performance.now() + seconds * 1000;
      for (;;) {
        const all = await kept(threads);
        const open = all.filter(({ state }) => state === 'pending' || state === 'delivering');
        if (all.length > 0 && open.length === 0) return all;
        if (performance.now() > until) throw new Error(`${open.length} messages still wait after ${seconds} s.`);
        await sleep(500);
      }
    },
  };
};
