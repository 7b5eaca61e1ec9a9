/** The whole team in memory: what is said outside comes in at one end, and what the host lets out is kept at the other. */
import * as z from 'zod';
import type { ModelRequest } from '../../../lib/model/model.ts';
import { assessThread } from '../../../lib/router/assess/assess.ts';
import type { Provider } from '../../../lib/router/channel.ts';
import { namesHandle } from '../../../lib/router/gate/mentions.ts';
import { sendPosting } from '../../../lib/router/outbox/send.ts';
import { loadPolicy } from '../../../lib/router/policy/load-policy.ts';
import type { Policy } from '../../../lib/router/policy/policy.ts';
import { repositoryTools } from '../../../lib/router/repository/tools.ts';
import { type NewEvent, type StoredTrigger, storeTrigger } from '../../../lib/router/thread/store.ts';
import { readTrigger } from '../../../lib/router/thread/trigger.ts';
import type { Tool } from '../../../lib/tools/tool.ts';
import { asked, ORG, reply, SELF } from '../support/team.ts';
import { makeShop, type Worker } from '../ticket/shop.ts';

/** The handle by which the texts of the corpus call us. */
export const HANDLE = 'team-agent';

/** Everything that has left the host. */
export interface LetOut {
  readonly posts: { readonly thread: string; body: string; readonly id: string }[];
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

const providerInto = (out: LetOut, file: string): Provider => ({
  post: async (to, body) => {
    const id = String(out.posts.length + 1);
    out.posts.push({ thread: to.thread, body, id });
    return { id };
  },
  edit: async (_to, id, body) => {
    for (const post of out.posts) if (post.id === id) post.body = body;
  },
  list: async (to) =>
    out.posts.filter(({ thread }) => thread === to.thread).map(({ id, body }) => ({ id, body, authorId: SELF, at: 0 })),
  requestReview: async (to, reviewers) => void out.reviews.push(`${to.thread} ${reviewers.join(' ')}`),
  get: async (repositoryId, path) => {
    out.readings.push({ repositoryId, path });
    const content = Buffer.from(file).toString('base64');
    return { type: 'file', name: 'README.md', path: 'README.md', size: file.length, encoding: 'base64', content };
  },
  check: async () => ({}),
});

export const makeHost = async ({ policy, decide, worker, file = '' }: HostOptions) => {
  const out: LetOut = { posts: [], requests: [], readings: [], reviews: [] };
  const provider = async () => providerInto(out, file);
  // Its ports come with it; the readings of the repository are made over them, and are part of it.
  let reading: Pick<Parameters<typeof repositoryTools>[0], 'table' | 'clock' | 'log'> | undefined;
  const lazily = new Proxy({} as Parameters<typeof repositoryTools>[0], {
    get: (_, name) => (name === 'provider' ? provider : reading?.[name as keyof typeof reading]),
  });
  const shop = await makeShop(worker, {
    ...(policy !== undefined && { policy }),
    tools: [http(out), ...repositoryTools(lazily)],
  });
  reading = shop.deps;
  await shop.source({ self: { id: SELF, login: `${HANDLE}[bot]` } });
  const threads = { ...shop.threads, names: (text: string) => namesHandle(text, HANDLE) };
  let names = 0;
  const pages: string[] = [];
  const evals = {
    ...threads,
    resolveModel: shop.deps.resolveModel,
    models: {
      complete: async (request: ModelRequest) => {
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

  /** Delivers everything that is under way, until nothing is. */
  const rest = async (): Promise<void> => {
    for (let round = 0; round < 50; round++) {
      await shop.drain();
      const [looks, words] = [queues.assess.take(), queues.postings.take()];
      if (looks.length + words.length === 0) return;
      for (const { message } of looks) {
        const messageId = `look-${++names}`;
        await assessThread(evals, message, { messageId, receiptHandle: messageId, receiveCount: 1 }, () => 300_000);
      }
      for (const { message } of words) await sendPosting(outbox, message);
    }
    throw new Error('The team does not come to rest.');
  };
  return {
    shop,
    out,
    pages,
    rest,
    async says(event: NewEvent): Promise<StoredTrigger> {
      const stored = await storeTrigger(threads, ORG, event);
      await rest();
      return stored;
    },
    triggers: () => shop.rows(/^TRIGGER#/).map(readTrigger),
  };
};

export type Host = Awaited<ReturnType<typeof makeHost>>;
