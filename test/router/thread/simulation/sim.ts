/** From an event to a decision under faults: the real code of Threads and Evals on ports in memory, under virtual time. */

import { eachDue } from '../../../../lib/execution/clock.ts';
import { makeIds } from '../../../../lib/kernel/ids.ts';
import type { Item, Table, Write } from '../../../../lib/kernel/table.ts';
import { assessThread } from '../../../../lib/router/assess/assess.ts';
import type { AssessDeps } from '../../../../lib/router/assess/deps.ts';
import { sweepThread } from '../../../../lib/router/assess/tend.ts';
import { namesHandle } from '../../../../lib/router/gate/mentions.ts';
import type { AssessMessage } from '../../../../lib/router/message.ts';
import type { Policy } from '../../../../lib/router/policy/policy.ts';
import { headItem, versionItem } from '../../../../lib/router/policy/policy-row.ts';
import { type NewEvent, storeTrigger } from '../../../../lib/router/thread/store.ts';
import { type Withdrawal, withdrawTrigger } from '../../../../lib/router/thread/withdraw.ts';
import { type Fault, Injector, Process } from '../../../simulation/faults.ts';
import { type Received, SimQueue } from '../../../simulation/sim-queue.ts';
import { World } from '../../../simulation/world.ts';
import { type MemoryTable, makeMemoryTable } from '../../../support/memory-table.ts';
import { makeDesk } from '../../support/desk.ts';
import { asked, ORG, organisationItem, POLICY, reply, sourceItem } from '../../support/team.ts';
import { violationAt } from './commit-check.ts';

export type Told = NewEvent | Withdrawal;

export interface Plan {
  readonly seed: number;
  /** What providers tell, and when, ms after the beginning. */
  readonly events: readonly (readonly [afterMs: number, told: Told])[];
  /** What the model decides about a text. */
  readonly decide: (text: string) => { readonly [member: string]: unknown } | undefined;
  readonly modelMs?: number;
  readonly lastsMs?: number;
  readonly faultAt?: (call: number, name: string) => Fault | undefined;
  /** People and others who act by themselves. */
  readonly people?: (sim: ThreadSim) => void;
  /** Whether the queue loses the message that is sent as so many-th to the Eval. */
  readonly loses?: (sent: number) => boolean;
  /** `sweep` comes every three minutes; else everything has to heal by its messages. */
  readonly sweep?: boolean;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };
/** As the template has them. */
const VISIBILITY_SECONDS = 300;

export class ThreadSim {
  readonly plan: Plan;
  readonly world: World;
  readonly memory: MemoryTable;
  readonly injector: Injector;
  readonly inbox: SimQueue<number>;
  readonly assess: SimQueue<AssessMessage>;
  readonly surprises: unknown[] = [];
  /** What an invariant was broken by in the moment of a write. */
  readonly broken: string[] = [];
  calls = 0;
  version = 0;
  #born = 0;
  readonly #outside: Injector;

  constructor(plan: Plan) {
    this.plan = plan;
    const world = new World(plan.seed);
    this.world = world;
    this.memory = makeMemoryTable(() => world.now);
    this.injector = new Injector(world, plan.faultAt ?? (() => undefined), {
      outside: (fault, process) => this.#act(fault, process),
    });
    this.#outside = new Injector(world, () => undefined, { outside() {} });
    const queue = <Body>(name: string, deliver: (received: Received<Body>) => void) =>
      new SimQueue<Body>(world, {
        name,
        visibilitySeconds: VISIBILITY_SECONDS,
        maxReceiveCount: 20,
        deliver,
        dead: (body) => void this.broken.push(`${name} gave up on ${JSON.stringify(body)}`),
      });
    this.inbox = queue('inbox', (received) => this.#resolve(received));
    this.assess = queue('assess', (received) => this.#assess(received));
  }

  rows(sk: RegExp): Item[] {
    return this.memory.dump().filter((item) => sk.test(item.sk));
  }

  #table(process: Process, injector: Injector): Table {
    const { memory } = this;
    const call = <T>(name: string, work: () => Promise<T>): Promise<T> => injector.call(process, name, work);
    const named = (writes: readonly Write[]): string =>
      writes.some((write) => 'put' in write && write.put.sk.startsWith('dec_')) ? 'transact decision' : 'transact';
    return {
      get: (key, options) => call(`get ${key.sk.split('#')[0]}`, () => memory.get(key, options)),
      getMany: (many, options) => call('getMany', () => memory.getMany(many, options)),
      query: (query) => (query.index === 'due' ? memory.query(query) : call('query', () => memory.query(query))),
      put: (item, condition) => call(`put ${item.sk.split('#')[0]}`, () => memory.put(item, condition)),
      update: (key, changes, condition) => {
        const lets = changes.some((change) => change.do === 'remove' && change.path === 'owner') ? ' let go' : '';
        return call(`update ${key.sk.split('#')[0]}${lets}`, () => memory.update(key, changes, condition));
      },
      delete: (key, condition) => call('delete', () => memory.delete(key, condition)),
      transact: (writes, token) =>
        call(named(writes), async () => {
          const before = (key: { pk: string; sk: string }) => memory.get(key);
          const wrong = await violationAt(writes, before, process, this.world.now);
          await memory.transact(writes, token);
          // Only what was applied.
          if (wrong !== undefined) this.broken.push(wrong);
        }),
    };
  }

  deps(process = new Process(`outside-${this.#born++}`), injector = this.#outside): AssessDeps {
    const { world } = this;
    const table = this.#table(process, injector);
    const started = world.now;
    const random = (bytes: number): Uint8Array => {
      const noise = new Uint8Array(bytes);
      new DataView(noise.buffer).setUint32(bytes - 4, ++this.#born);
      return noise;
    };
    return {
      table,
      clock: { now: () => world.now + process.skewMs, sleep: (ms, signal) => world.sleep(ms, signal) },
      ids: makeIds(random),
      log: silent,
      assess: {
        send: (message, { delaySeconds }) =>
          injector.call(process, 'send assess', async () => this.assess.send(message, delaySeconds)),
        changeVisibility: (handle, seconds) =>
          injector.call(process, 'visibility', async () => this.assess.changeVisibility(handle, seconds)),
      },
      desk: makeDesk(table),
      names: (text) => namesHandle(text, 'baton'),
      models: { complete: (request) => injector.call(process, 'model', () => this.#think(request)) },
      resolveModel: async () => ({
        account: { baseUrl: 'http://model', apiKey: 'k', trusted: true },
        model: 'assessor',
        price: { inputUsdPerM: 1, cachedUsdPerM: 1, outputUsdPerM: 1, contextTokens: 100_000 },
      }),
      newOwner: () => {
        process.owner = `owner-${this.#born++}-${started}`;
        return process.owner;
      },
      newMark: () => `mark${this.#born++}`,
      settings: { leaseMs: 30_000 },
    };
  }

  async #think(request: Parameters<AssessDeps['models']['complete']>[0]) {
    this.calls++;
    const page = request.messages[1]?.content ?? '';
    const ids = asked(request);
    await this.world.sleep((this.plan.modelMs ?? 2_500) + 500 * ids.length, request.signal);
    if (request.signal.aborted) return { kind: 'aborted', billed: true } as const;
    const textOf = (id: string): string =>
      new RegExp(`^DECIDE ${id}[\\s\\S]*?⟦mark\\d+\\n([\\s\\S]*?)\\nmark\\d+⟧`, 'm').exec(page)?.[1] ?? '';
    return reply(
      JSON.stringify({
        decisions: ids.flatMap((triggerId) => {
          const decision = this.plan.decide(textOf(triggerId));
          return decision === undefined ? [] : [{ triggerId, reason: 'because', ...decision }];
        }),
      }),
    );
  }

  #resolve(received: Received<number>): void {
    const told = this.plan.events[received.body]?.[1];
    if (told === undefined) throw new Error('There is no such event.');
    const process = new Process(received.messageId);
    const deps = this.deps(process, this.injector);
    const work = 'thread' in told ? storeTrigger(deps, ORG, told) : withdrawTrigger(deps, ORG, told);
    this.#follow(process, work, this.inbox, received);
  }

  #assess(received: Received<AssessMessage>): void {
    if (this.plan.loses?.(this.assess.sends) === true) {
      this.assess.delete(received.messageId);
      return;
    }
    const process = new Process(received.messageId);
    const until = this.world.now + 300_000;
    const { body, ...delivery } = received;
    const work = assessThread(this.deps(process, this.injector), body, delivery, () => until - this.world.now);
    this.#follow(process, work, this.assess, received);
  }

  #follow(
    process: Process,
    work: Promise<unknown>,
    queue: SimQueue<never> | SimQueue<number> | SimQueue<AssessMessage>,
    received: Received<unknown>,
  ): void {
    work.then(
      () => process.alive && queue.delete(received.messageId),
      (error: unknown) => {
        this.#unexpected(error);
        if (queue !== this.inbox || !process.alive) return;
        // As the handler of the resolver does.
        try {
          queue.changeVisibility(received.receiptHandle, 2 * received.receiveCount);
        } catch (late) {
          this.#unexpected(late);
        }
      },
    );
  }

  #unexpected(error: unknown): void {
    const names = ['PortFailure', 'NotYet', 'MessageGone'];
    if (!(error instanceof Error) || !names.includes(error.name)) this.surprises.push(error);
  }

  /** What others do in the middle of a call. */
  #act(fault: Fault, process: Process): void {
    if (fault === 'duplicate') {
      this.inbox.duplicate(process.messageId);
      this.assess.duplicate(process.messageId);
    }
    // Whoever had a copy of it was done with it.
    if (fault === 'terminate') this.assess.delete(process.messageId);
    if (fault === 'sweep') void Promise.all([this.sweep(), this.sweep()]);
    if (fault === 'input') void this.policy({ ...POLICY });
  }

  async policy(policy: Policy): Promise<void> {
    const version = ++this.version;
    const at = new Date(this.world.now).toISOString();
    await this.memory.put(versionItem(ORG, { version, policy, at, by: 'key_1' }));
    await this.memory.put(headItem(ORG, version));
  }

  async sweep(): Promise<void> {
    const deps = this.deps();
    const execution = deps as unknown as Parameters<typeof eachDue>[0];
    await eachDue(execution, 'sweep', this.world.now, (found) => sweepThread(deps, found));
  }

  async play(): Promise<this> {
    await this.memory.put(sourceItem());
    await this.memory.put(organisationItem());
    await this.policy(POLICY);
    this.plan.events.forEach(([afterMs], index) => {
      this.world.after(afterMs, () => this.inbox.send(index, 0));
    });
    if (this.plan.sweep === true) {
      const again = (): void => {
        void this.sweep().catch((error: unknown) => this.#unexpected(error));
        this.world.after(180_000, again);
      };
      this.world.after(180_000, again);
    }
    this.plan.people?.(this);
    await this.world.run(this.world.now + (this.plan.lastsMs ?? 1_800_000), () => false);
    return this;
  }
}
