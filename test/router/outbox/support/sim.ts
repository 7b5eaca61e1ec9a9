/** The outbox under faults: every call of a sender may be the last one, come twice, be late or have its answer lost. */
import { retrySeconds } from '../../../../lib/effect/deliver.ts';
import { eachDue } from '../../../../lib/execution/clock.ts';
import type { ExecutionDeps } from '../../../../lib/execution/step/deps.ts';
import { keys } from '../../../../lib/kernel/keys.ts';
import { MessageGone } from '../../../../lib/kernel/ports.ts';
import { add, set, type Table, type Write } from '../../../../lib/kernel/table.ts';
import { type Provider, ProviderError, type RemotePost } from '../../../../lib/router/channel.ts';
import type { PostingMessage } from '../../../../lib/router/message.ts';
import type { OutboxDeps } from '../../../../lib/router/outbox/deps.ts';
import { type Posting, readPosting } from '../../../../lib/router/outbox/posting.ts';
import { render } from '../../../../lib/router/outbox/render.ts';
import { sendPosting } from '../../../../lib/router/outbox/send.ts';
import { buryPostingMessage, wakePosting } from '../../../../lib/router/outbox/wake.ts';
import type { Written } from '../../../../lib/router/outbox/write.ts';
import { NEW_POLICY } from '../../../../lib/router/policy/policy.ts';
import { readTicket, type Ticket } from '../../../../lib/router/ticket/ticket.ts';
import { makeRow } from '../../../../lib/tenancy/row.ts';
import { type Fault, Injector, PortFailure, Process } from '../../../simulation/faults.ts';
import { type Received, SimQueue } from '../../../simulation/sim-queue.ts';
import { World } from '../../../simulation/world.ts';
import { makeMemoryTable } from '../../../support/memory-table.ts';
import { ORG, SELF, sourceRow, threadRow, ticketRow } from './world.ts';

const MINUTE = 60_000;

export interface SimOptions {
  readonly seed?: number;
  readonly faultAt?: (call: number, name: string) => Fault | undefined;
  /** A guard is taken out. */
  readonly without?: 'claim' | 'mandate' | 'deadline' | 'look' | 'level';
}

/** A comment as the provider keeps it. */
interface Kept extends RemotePost {
  body: string;
  readonly thread: string;
  readonly claimedAt: number;
}

export class OutboxSim {
  readonly world: World;
  readonly memory;
  readonly posts: Kept[] = [];
  readonly surprises: unknown[] = [];
  readonly injector: Injector;
  readonly queue: SimQueue<PostingMessage>;
  readonly #quiet: Injector;
  readonly #options: SimOptions;
  #owners = 0;
  /** When the last claim of a posting was applied, by its key. */
  readonly #claims = new Map<string, number>();
  /** When the mandate was revoked. */
  revokedAt: number | undefined;

  constructor(options: SimOptions) {
    this.#options = options;
    this.world = new World(options.seed ?? 1);
    const { world } = this;
    this.memory = makeMemoryTable(() => world.now);
    const outside = (fault: Fault, process: Process): void => {
      if (fault === 'duplicate') this.queue.duplicate(process.messageId);
      if (fault === 'sweep') void this.#tick(10 * MINUTE);
    };
    // A frozen sender stands for longer than its lease, and at times for longer than all looks for what it may have done.
    this.injector = new Injector(world, options.faultAt ?? (() => undefined), { outside }, [61_000, 300_000]);
    this.#quiet = new Injector(world, () => undefined, { outside() {} });
    this.queue = new SimQueue<PostingMessage>(world, {
      name: 'effects',
      visibilitySeconds: 360,
      maxReceiveCount: 20,
      deliver: (received) => void this.#work(received),
      dead: (body) => void buryPostingMessage(this.#deps(new Process('dead'), this.#quiet), body),
    });
  }

  async start(): Promise<void> {
    const at = new Date(this.world.now).toISOString();
    const organisation = { id: ORG, name: 'A', createdAt: at, defaultProjectId: 'prj_1' };
    await this.memory.put(makeRow(keys.organisation(ORG), organisation));
    for (const row of [sourceRow(), threadRow(), ticketRow()]) await this.memory.put(row);
    const every = (): void => {
      void this.#tick(0);
      this.world.after(MINUTE, every);
    };
    every();
  }

  async ticket(): Promise<Ticket> {
    const item = await this.memory.get(keys.ticket(ORG, 'tkt_1'));
    if (item === undefined) throw new Error('There is no ticket.');
    return readTicket(item);
  }

  /** The transaction of a cause, and its message. */
  async write({ postingId, writes }: Written): Promise<string> {
    await this.memory.transact(writes);
    this.queue.send({ orgId: ORG, postingId }, 0);
    return postingId;
  }

  async revoke(): Promise<void> {
    const { mandate } = await this.ticket();
    await this.memory.update(keys.ticket(ORG, 'tkt_1'), [
      set('mandate', { id: mandate.id, verb: mandate.verb, state: 'revoked', grantedBy: 'x', policyVersion: 1 }),
      add('version', 1),
    ]);
    this.revokedAt = this.world.now;
  }

  async #tick(horizon: number): Promise<void> {
    const deps = this.#deps(new Process('clock'), this.#quiet);
    await eachDue(deps as unknown as ExecutionDeps, 'tick', this.world.now + 150_000 + horizon, (found) =>
      wakePosting(deps, found),
    );
  }

  async #work({ messageId, receiptHandle, receiveCount, body }: Received<PostingMessage>): Promise<void> {
    const process = new Process(messageId);
    try {
      await sendPosting(this.#deps(process, this.injector), body);
      if (process.alive) this.queue.delete(messageId);
    } catch (error) {
      if (!(error instanceof PortFailure)) this.surprises.push(error);
      try {
        this.queue.changeVisibility(receiptHandle, retrySeconds(receiveCount));
      } catch (gone) {
        if (!(gone instanceof MessageGone)) throw gone;
      }
    }
  }

  #weaken(write: Write): Write | undefined {
    const { without } = this.#options;
    if (without === 'mandate' && 'check' in write && write.check.sk === 'TICKET') return undefined;
    const claims = 'update' in write && write.changes.some(({ path }) => path === 'epoch' || path === 'sends');
    return without === 'claim' && claims ? { update: write.update, changes: write.changes } : write;
  }

  #table(process: Process, injector: Injector): Table {
    const { memory } = this;
    const name = (sk: string): string => sk.split('#')[0] ?? '';
    const level = this.#options.without === 'level';
    return {
      get: (key, options) => injector.call(process, `get ${name(key.sk)}`, () => memory.get(key, options)),
      getMany: (many, options) => injector.call(process, 'getMany', () => memory.getMany(many, options)),
      query: (query) => injector.call(process, 'query', () => memory.query(query)),
      put: (item, condition) => injector.call(process, 'put', () => memory.put(item, condition)),
      update: (key, changes, condition) =>
        injector.call(process, `update ${name(key.sk)}`, () => {
          const sent = level && changes.some(({ path }) => path === 'sentRevision');
          return memory.update(key, changes, sent ? undefined : condition);
        }),
      delete: (key, condition) => injector.call(process, 'delete', () => memory.delete(key, condition)),
      transact: (writes, token) =>
        injector.call(process, 'transact', async () => {
          const left = writes.map((write) => this.#weaken(write)).filter((write) => write !== undefined);
          await memory.transact(left, token);
          const claimed = writes.find(
            (write) => 'update' in write && write.changes.some(({ path }) => path === 'epoch'),
          );
          const pk = claimed !== undefined && 'update' in claimed ? claimed.update.pk : '';
          this.#claims.set(pk.slice(pk.lastIndexOf('#') + 1), this.world.now);
        }),
    };
  }

  #deps(process: Process, injector: Injector): OutboxDeps {
    const { world } = this;
    return {
      table: this.#table(process, injector),
      clock: { now: () => world.now + process.skewMs },
      log: { debug() {}, info() {}, warn() {}, error() {} },
      postings: {
        send: (message, { delaySeconds }) =>
          injector.call(process, 'send', async () => this.queue.send(message, delaySeconds)),
        changeVisibility: async () => {},
      },
      policyOf: async () => ({ version: 1, policy: { ...NEW_POLICY, breaker: { repliesPerThreadPerHour: 100 } } }),
      newOwner: () => `owner-${++this.#owners}`,
      random: world.random,
      provider: async (_, { until }) => this.#provider(process, injector, until),
    };
  }

  #provider(process: Process, injector: Injector, until: number | undefined): Provider {
    const { world, posts } = this;
    const late = (): boolean =>
      this.#options.without !== 'deadline' && until !== undefined && world.now + process.skewMs >= until;
    /** A frozen process looks at its clock when it goes on. */
    const write = async <T>(what: string, work: () => T): Promise<T> => {
      while (world.now < process.frozenUntil) await world.sleep(process.frozenUntil - world.now);
      if (late()) throw new ProviderError('down', 'No time.');
      return this.#ask(() => injector.call(process, `tool ${what}`, async () => work()), 'unknown');
    };
    return {
      post: (to, body, key) =>
        write('post', () => {
          const id = String(posts.length + 1);
          const claimedAt = this.#claims.get(key) ?? 0;
          posts.push({ id, body, authorId: SELF, at: world.now, key, thread: to.thread, claimedAt });
          return { id };
        }),
      edit: (_, id, body) =>
        write('edit', () => {
          for (const post of posts) if (post.id === id) post.body = body;
        }),
      list: (to, sinceMs) =>
        this.#ask(
          () =>
            injector.call(process, 'tool list', async () =>
              posts.filter(
                ({ thread, at }) => this.#options.without !== 'look' && thread === to.thread && at >= sinceMs,
              ),
            ),
          'down',
        ),
      requestReview: async () => {},
      get: async () => ({}),
      check: async () => ({}),
    };
  }

  /** What an adapter makes of a request that failed. */
  async #ask<T>(request: () => Promise<T>, lost: 'unknown' | 'down'): Promise<T> {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof PortFailure)) throw error;
      throw new ProviderError(error.message.endsWith('throttled.') ? 'busy' : lost, error.message);
    }
  }

  postings(): Posting[] {
    return this.memory
      .dump()
      .filter(({ sk }) => sk === 'POSTING')
      .map(readPosting);
  }

  pass(ms: number): Promise<void> {
    return this.world.run(this.world.now + ms, () => false);
  }
}

/** What must hold at the end of a run. */
export const violationsOf = (sim: OutboxSim): string[] => {
  const found: string[] = sim.surprises.map((error) => `surprise: ${String(error)}`);
  for (const posting of sim.postings()) {
    const own = sim.posts.filter(({ key }) => key === posting.key);
    if (own.length > 1) found.push(`${posting.kind} was said ${own.length} times`);
    if (sim.revokedAt !== undefined) {
      const { revokedAt } = sim;
      if (own.some(({ claimedAt }) => claimedAt > revokedAt)) found.push('said after the stop');
      continue;
    }
    if (own.length === 0) found.push(`${posting.kind} was never said (${posting.state})`);
    if (posting.state !== 'sent') found.push(`${posting.kind} is ${posting.state}`);
    if (own[0] !== undefined && own[0].body !== render(posting)) found.push(`${posting.kind} shows an older text`);
    if (posting.dueSk !== undefined) found.push(`${posting.kind} keeps a mark`);
  }
  return found;
};
