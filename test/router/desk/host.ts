/** The whole team in memory: what is said outside comes in at one end, and what the host lets out is kept at the other. */
import * as z from 'zod';
import { eachDue, TICK_HORIZON_MS } from '../../../lib/execution/clock.ts';
import { NotYet } from '../../../lib/execution/step/deps.ts';
import type { ModelRequest } from '../../../lib/model/model.ts';
import { assessThread } from '../../../lib/router/assess/assess.ts';
import { isThreadRow, sweepThread } from '../../../lib/router/assess/tend.ts';
import type { Provider } from '../../../lib/router/channel.ts';
import { namesHandle } from '../../../lib/router/gate/mentions.ts';
import { sendPosting } from '../../../lib/router/outbox/send.ts';
import { wakePosting } from '../../../lib/router/outbox/wake.ts';
import { loadPolicy } from '../../../lib/router/policy/load-policy.ts';
import type { Policy } from '../../../lib/router/policy/policy.ts';
import { repositoryTools } from '../../../lib/router/repository/tools.ts';
import { type NewEvent, type StoredTrigger, storeTrigger } from '../../../lib/router/thread/store.ts';
import { readTrigger } from '../../../lib/router/thread/trigger.ts';
import { isSlots, sweepSlots } from '../../../lib/router/ticket/repair.ts';
import type { Tool } from '../../../lib/tools/tool.ts';
import { asked, ORG, reply, SELF } from '../support/team.ts';
import { PortFailure, type Strike } from '../ticket/ports.ts';
import { makeShop, type Shop, type Worker } from '../ticket/shop.ts';

/** The handle by which the texts of the corpus call us. */
export const HANDLE = 'team-agent';

/** Everything that has left the host. */
export interface LetOut {
  readonly posts: { readonly thread: string; body: string; readonly id: string; readonly key: string }[];
  readonly requests: { readonly method: string; readonly url: string }[];
  readonly readings: { readonly repositoryId: string; readonly path: string }[];
  readonly reviews: string[];
}

export interface HostOptions {
  readonly policy?: Partial<Policy>;
  /** What the model of the Eval makes of each Trigger on its page. */
  readonly decide: (page: string, triggerId: string) => object;
  readonly worker: Worker;
  /** Text of every file of the repository. */
  readonly file?: string;
  /** At this call of a port, or of the provider, the process that makes it dies. */
  readonly strike?: Strike;
}

const http = (out: LetOut): Tool => ({
  name: 'http_request',
  description: 'Sends a request.',
  schema: z.object({ method: z.string().default('GET'), url: z.string(), body: z.string().optional() }),
  effect: () => 'idempotent',
  outside: true,
  timeoutSeconds: 5,
  execute: async (args) => {
    out.requests.push(args as { method: string; url: string });
    return { ok: true, text: 'thanks' };
  },
});

type Outside = <T>(request: () => Promise<T>) => Promise<T>;

const providerInto = (out: LetOut, file: string, now: () => number, outside: Outside): Provider => ({
  post: (to, body, key) =>
    outside(async () => {
      const id = String(out.posts.length + 1);
      out.posts.push({ thread: to.thread, body, id, key });
      return { id };
    }),
  edit: (_to, id, body) =>
    outside(async () => {
      for (const post of out.posts) if (post.id === id) post.body = body;
    }),
  list: (to) =>
    outside(async () =>
      out.posts
        .filter(({ thread }) => thread === to.thread)
        .map(({ id, body, key }) => ({ id, body, key, authorId: SELF, at: now() })),
    ),
  requestReview: (to, reviewers) => outside(async () => void out.reviews.push(`${to.thread} ${reviewers.join(' ')}`)),
  get: (repositoryId, path) =>
    outside(async () => {
      out.readings.push({ repositoryId, path });
      const content = Buffer.from(file).toString('base64');
      return { type: 'file', name: 'README.md', path: 'README.md', size: file.length, encoding: 'base64', content };
    }),
  check: async () => ({}),
});

export const makeHost = async ({ policy, decide, worker, file = '', strike }: HostOptions) => {
  const out: LetOut = { posts: [], requests: [], readings: [], reviews: [] };
  // Its ports come with it; the readings of the repository are made over them, and are part of it.
  let reading: Shop['deps'] | undefined;
  let outside: Outside = (request) => request();
  const provider = async () =>
    providerInto(
      out,
      file,
      () => reading?.clock.now() ?? 0,
      (request) => outside(request),
    );
  const lazily = new Proxy({} as Parameters<typeof repositoryTools>[0], {
    get: (_, name) => (name === 'provider' ? provider : reading?.[name as keyof typeof reading]),
  });
  const shop = await makeShop(worker, {
    ...(policy !== undefined && { policy }),
    ...(strike !== undefined && { strike }),
    tools: [http(out), ...repositoryTools(lazily)],
  });
  reading = shop.deps;
  outside = shop.ports.outside;
  await shop.source({ self: { id: SELF, login: `${HANDLE}[bot]` } });
  const threads = { ...shop.threads, names: (text: string) => namesHandle(text, HANDLE) };
  let names = 0;
  const pages: string[] = [];
  const evals = {
    ...threads,
    resolveModel: shop.deps.resolveModel,
    models: {
      complete: async (request: ModelRequest) => {
        shop.ports.alive();
        const page = request.messages[1]?.content ?? '';
        pages.push(page);
        const decisions = asked(request).map((triggerId) => ({
          triggerId,
          reason: 'as told',
          ...decide(page, triggerId),
        }));
        return reply(JSON.stringify({ decisions }));
      },
    },
    newOwner: () => `eval-${++names}`,
    newMark: () => `mark${++names}`,
    settings: { leaseMs: 30_000 },
  };
  const outbox = {
    table: shop.deps.table,
    clock: shop.clock,
    log: shop.deps.log,
    postings: shop.deps.postings,
    provider,
    policyOf: (orgId: string) => loadPolicy(shop.deps.table, orgId),
    newOwner: () => `sender-${++names}`,
    random: () => 0,
  };
  const { queues } = shop;

  /** One invocation for a message; where its process dies the message comes back when its lease has ended. */
  const deliver = async (work: () => Promise<unknown>, again: () => Promise<unknown>): Promise<void> => {
    shop.ports.begin();
    try {
      await work();
    } catch (error) {
      if (!(error instanceof PortFailure || error instanceof NotYet)) throw error;
      shop.ports.begin();
      await shop.clock.advance(61_000);
      await again();
    }
  };
  /** Delivers everything that is under way, until nothing is. */
  const rest = async (): Promise<void> => {
    for (let round = 0; round < 80; round++) {
      await shop.drain();
      const [looks, words] = [queues.assess.take(), queues.postings.take()];
      if (looks.length + words.length === 0) return;
      for (const { message } of looks) {
        const messageId = `look-${++names}`;
        const given = { messageId, receiptHandle: messageId, receiveCount: 1 };
        await deliver(
          () => assessThread(evals, message, given, () => 300_000),
          () => queues.assess.send(message, { delaySeconds: 0, tenant: ORG }),
        );
      }
      for (const { message } of words) {
        await deliver(
          () => sendPosting(outbox, message),
          () => queues.postings.send(message, { delaySeconds: 0, tenant: ORG }),
        );
      }
    }
    throw new Error('The team does not come to rest.');
  };
  /** The clock comes, for whatever stands with its mark behind it. */
  const heal = async (): Promise<void> => {
    for (let round = 0; round < 4; round++) {
      await shop.heal();
      for (const shard of ['tick', 'sweep'] as const) {
        await shop.invoke(() =>
          eachDue(shop.deps, shard, shop.clock.now() + TICK_HORIZON_MS, async (found) => {
            if (isThreadRow(found)) await sweepThread({ ...shop.deps, assess: queues.assess }, found);
            else if (isSlots(found)) await sweepSlots(shop.deps, found);
            else if (found.sk === 'POSTING') await wakePosting(outbox, found);
          }),
        );
      }
      await rest();
    }
  };
  return {
    shop,
    out,
    pages,
    rest,
    heal,
    /** What the resolver makes of a delivery; where it dies, the delivery comes again. */
    async says(event: NewEvent): Promise<StoredTrigger> {
      const stored = await shop.invoke(() => storeTrigger(threads, ORG, event));
      await rest();
      return stored;
    },
    triggers: () => shop.rows(/^TRIGGER#/).map(readTrigger),
  };
};

export type Host = Awaited<ReturnType<typeof makeHost>>;
