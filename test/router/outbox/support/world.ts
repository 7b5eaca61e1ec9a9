/** The outbox over ports in memory, with a provider that keeps comments and can be made to fail. */
import { keys, owner } from '../../../../lib/kernel/keys.ts';
import type { Item, Value } from '../../../../lib/kernel/table.ts';
import { type Provider, ProviderError, type RemotePost } from '../../../../lib/router/channel.ts';
import type { PostingMessage } from '../../../../lib/router/message.ts';
import type { Place } from '../../../../lib/router/outbox/authority.ts';
import type { OutboxDeps } from '../../../../lib/router/outbox/deps.ts';
import { type Posting, readPosting } from '../../../../lib/router/outbox/posting.ts';
import { sendPosting } from '../../../../lib/router/outbox/send.ts';
import { documentWrites, postingWrites, type Written } from '../../../../lib/router/outbox/write.ts';
import { NEW_POLICY } from '../../../../lib/router/policy/policy.ts';
import { readSource, type Source } from '../../../../lib/router/source/source.ts';
import { readThread, type Thread } from '../../../../lib/router/thread/thread.ts';
import { readTicket, type Ticket } from '../../../../lib/router/ticket/ticket.ts';
import { makeRow } from '../../../../lib/tenancy/row.ts';
import { makeFakeClock } from '../../../support/fake-clock.ts';
import { makeMemoryLog } from '../../../support/memory-log.ts';
import { makeMemoryQueue } from '../../../support/memory-queue.ts';
import { makeMemoryTable } from '../../../support/memory-table.ts';

export const ORG = 'org_00000000000000000000000000';
export const SELF = '900';
export const START = Date.UTC(2026, 2, 1);
const at = new Date(START).toISOString();

type Attributes = { readonly [name: string]: Value | undefined };

export const sourceRow = (more: Attributes = {}): Item =>
  makeRow(keys.source(ORG, 'src_1'), {
    id: 'src_1',
    orgId: ORG,
    kind: 'github',
    name: 'GitHub',
    state: 'active',
    self: { id: SELF, login: 'baton[bot]' },
    signsInBy: 'app',
    secretRef: 'r',
    createdAt: at,
    updatedAt: at,
    ...more,
  });

export const threadRow = (id = 'thr_1', more: Attributes = {}): Item =>
  makeRow(keys.thread(ORG, id), {
    id,
    orgId: ORG,
    sourceId: 'src_1',
    key: `gh:501:issue:${id}`,
    title: `Thread ${id}`,
    repositoryId: '501',
    replyTo: { thread: `501/issues/${id}` },
    createdAt: START,
    updatedAt: START,
    ownerPk: owner.threads(ORG),
    ownerSk: id,
    ...more,
  });

export const place = (threadId = 'thr_1', root?: string): Place => ({
  threadId,
  sourceId: 'src_1',
  replyTo: { thread: `501/issues/${threadId}`, ...(root !== undefined && { root }) },
  repositoryId: '501',
});

export const ticketRow = (more: Attributes = {}, mandate: { readonly [name: string]: Value } = {}): Item =>
  makeRow(keys.ticket(ORG, 'tkt_1'), {
    id: 'tkt_1',
    orgId: ORG,
    title: 'A ticket',
    phase: 'working',
    mandate: {
      id: 'mdt_1',
      verb: 'comment',
      repositoryId: '501',
      state: 'active',
      grantedBy: 'src_1:1',
      policyVersion: 1,
      ...mandate,
    },
    threads: [{ threadId: 'thr_1', sourceId: 'src_1', replyTo: { thread: '501/issues/thr_1' } }],
    executionIds: ['exe_1'],
    openedBy: 'src_1:1',
    version: 1,
    createdAt: START,
    updatedAt: START,
    ...more,
  });

/** What the next request of a kind meets. `lost`: it is done and the answer does not come. */
export type Mishap = ProviderError | 'lost' | 'crash' | (() => Promise<void> | void);

export const makeRemote = (now: () => number) => {
  const posts: (RemotePost & { readonly thread: string; readonly root: string | undefined; body: string })[] = [];
  const asked: string[] = [];
  const mishaps: { [request: string]: Mishap[] } = {};
  const reviewers: string[] = [];
  const meet = async (request: string, work: () => void): Promise<void> => {
    asked.push(request);
    const mishap = mishaps[request]?.shift();
    if (mishap instanceof ProviderError) throw mishap;
    if (typeof mishap === 'function') await mishap();
    work();
    if (mishap === 'lost') throw new ProviderError('unknown', 'No answer.');
    // The process ends here: nothing that it would have done happens.
    if (mishap === 'crash') throw new Crash();
  };
  const provider: Provider = {
    async post(to, body, key) {
      const id = String(posts.length + 1);
      await meet('post', () => {
        posts.push({ id, body, authorId: SELF, at: now(), key, thread: to.thread, root: to.root });
      });
      return { id, url: `https://github.example/${id}` };
    },
    async edit(_, id, body) {
      await meet('edit', () => {
        const post = posts.find((each) => each.id === id);
        if (post !== undefined) post.body = body;
      });
    },
    async list(to, sinceMs) {
      await meet('list', () => {});
      return posts.filter((each) => each.thread === to.thread && each.at >= sinceMs);
    },
    async requestReview(_, people) {
      await meet('review', () => void reviewers.push(...people));
    },
    get: async () => ({}),
    check: async () => ({}),
  };
  return {
    provider,
    posts,
    asked,
    reviewers,
    fail: (request: string, ...next: Mishap[]): void => {
      mishaps[request] = next;
    },
  };
};

export class Crash extends Error {}

export const makeWorld = async (options: { readonly repliesPerHour?: number; readonly ticket?: Item | null } = {}) => {
  const clock = makeFakeClock(START);
  const table = makeMemoryTable(() => clock.now());
  const log = makeMemoryLog();
  const queue = makeMemoryQueue<PostingMessage>();
  const remote = makeRemote(() => clock.now());
  const needs: { readonly verb: string; readonly repositoryId?: string | undefined }[] = [];
  let owners = 0;
  const deps: OutboxDeps = {
    table,
    clock,
    log,
    postings: queue,
    provider: async (_, need) => {
      needs.push(need);
      return remote.provider;
    },
    policyOf: async () => ({
      version: 1,
      policy: { ...NEW_POLICY, breaker: { repliesPerThreadPerHour: options.repliesPerHour ?? 10 } },
    }),
    newOwner: () => `owner-${++owners}`,
    random: () => 0,
  };
  await table.put(makeRow(keys.organisation(ORG), { id: ORG, name: 'A', createdAt: at, defaultProjectId: 'prj_1' }));
  await table.put(sourceRow());
  await table.put(threadRow());
  if (options.ticket !== null) await table.put(options.ticket ?? ticketRow());

  const row = async <T>(key: Parameters<typeof table.get>[0], read: (item: Item) => T): Promise<T> => {
    const item = await table.get(key);
    if (item === undefined) throw new Error(`There is no ${key.pk} ${key.sk}.`);
    return read(item);
  };
  const ticket = (): Promise<Ticket> => row(keys.ticket(ORG, 'tkt_1'), readTicket);
  const keep = async ({ postingId, writes }: Written): Promise<string> => {
    await table.transact(writes);
    return postingId;
  };
  const send = (postingId: string): Promise<void> => sendPosting(deps, { orgId: ORG, postingId });

  return {
    clock,
    table,
    log,
    queue,
    remote,
    needs,
    deps,
    send,
    keep,
    ticket,
    posting: (postingId: string): Promise<Posting> => row(keys.posting(ORG, postingId), readPosting),
    thread: (id = 'thr_1'): Promise<Thread> => row(keys.thread(ORG, id), readThread),
    source: (): Promise<Source> => row(keys.source(ORG, 'src_1'), readSource),
    attention: (): Item[] => table.dump().filter(({ sk }) => sk.startsWith('att_')),
    /** A comment of the ticket's own. */
    post: async (body: string, more: { readonly askedAt?: number; readonly threadId?: string } = {}): Promise<string> =>
      keep(
        postingWrites({
          orgId: ORG,
          at: clock.now(),
          cause: `report ${body}`,
          place: place(more.threadId),
          ticket: await ticket(),
          body,
          ...(more.askedAt !== undefined && { askedAt: more.askedAt }),
        }),
      ),
    wish: async (wish: { readonly body?: string; readonly note?: string }): Promise<string> =>
      keep(documentWrites({ orgId: ORG, at: clock.now(), place: place(), ticket: await ticket(), ...wish })),
    answer: (body: string, threadId = 'thr_1'): Promise<string> =>
      keep(postingWrites({ orgId: ORG, at: clock.now(), cause: `answer ${body}`, place: place(threadId), body })),
    /** Handles messages, in time, until nothing is left that comes within `ms`. */
    settle: async (ms = 600_000): Promise<void> => {
      const end = clock.now() + ms;
      const waiting = queue.take().map((sent) => ({ ...sent, due: clock.now() + sent.delaySeconds * 1000 }));
      for (;;) {
        waiting.sort((a, b) => a.due - b.due);
        const next = waiting.shift();
        if (next === undefined || next.due > end) return;
        if (next.due > clock.now()) await clock.advance(next.due - clock.now());
        await sendPosting(deps, next.message);
        waiting.push(...queue.take().map((sent) => ({ ...sent, due: clock.now() + sent.delaySeconds * 1000 })));
      }
    },
  };
};
