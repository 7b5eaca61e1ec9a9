/** Events, endpoints and receivers on in-memory ports, with the queue, the clock and a pool of workers around them. */
import { deliverEffect, type EffectDeps, retrySeconds, sweepEffect } from '../../../lib/effect/deliver.ts';
import { type EffectMessage, effectItem, parseEffectPk } from '../../../lib/effect/effect.ts';
import { eachDue } from '../../../lib/execution/clock.ts';
import type { ExecutionDeps } from '../../../lib/execution/step/deps.ts';
import { keys } from '../../../lib/kernel/keys.ts';
import { MessageGone } from '../../../lib/kernel/ports.ts';
import type { Item, Table } from '../../../lib/kernel/table.ts';
import { BUS } from '../../../lib/names.ts';
import type { GuardedFetch } from '../../../lib/tools/tool.ts';
import { buryWebhook, handleWebhookMessage, wakeWebhook } from '../../../lib/webhook/deliver.ts';
import { type Delivery, readDelivery } from '../../../lib/webhook/delivery.ts';
import type { WebhookDeps } from '../../../lib/webhook/deps.ts';
import { type Endpoint, readEndpoint } from '../../../lib/webhook/endpoint.ts';
import { fanOut } from '../../../lib/webhook/fan-out.ts';
import { type Gate, gateItem, newGate, readGate } from '../../../lib/webhook/gate.ts';
import { parseWebhookKey, type WebhookMessage } from '../../../lib/webhook/message.ts';
import { putDocument } from '../../../lib/webhook/secret-document.ts';
import { type Fault, Injector, Process } from '../../simulation/faults.ts';
import { type Received, SimQueue } from '../../simulation/sim-queue.ts';
import { World } from '../../simulation/world.ts';
import { makeMemorySecrets } from '../../support/memory-secrets.ts';
import { makeMemoryTable } from '../../support/memory-table.ts';

export const ORG = 'org_00000000000000000000000000';
export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const webhookIdOf = (name: string): string => `whk_${name.padStart(26, '0')}`;

/** One request as a receiver saw it. */
export interface Hit {
  readonly endpoint: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly at: number;
  readonly status: number;
}

/** Status, or no answer at all; `ms` until then. */
export type Answer =
  | { readonly status: number; readonly ms?: number }
  | { readonly ms: number; readonly status?: never };
export type Receiver = (hit: { readonly n: number; readonly eventId: string; readonly at: number }) => Answer;

export interface SimOptions {
  readonly seed?: number;
  readonly receivers: { readonly [name: string]: Receiver };
  readonly faultAt?: (call: number, name: string) => Fault | undefined;
  /** Workers at once. */
  readonly workers?: number;
}

type Message = EffectMessage | WebhookMessage;

export class WebhookSim {
  readonly world: World;
  readonly memory;
  readonly secrets = makeMemorySecrets();
  readonly hits: Hit[] = [];
  readonly published: string[] = [];
  readonly surprises: unknown[] = [];
  readonly queue: SimQueue<Message>;
  readonly injector: Injector;
  readonly #quiet: Injector;
  readonly #options: SimOptions;
  readonly #waiting: Received<Message>[] = [];
  #busy = 0;
  #sequence = 0;
  invocations = 0;

  constructor(options: SimOptions) {
    this.#options = options;
    this.world = new World(options.seed ?? 1);
    const { world } = this;
    this.memory = makeMemoryTable(() => world.now);
    this.injector = new Injector(world, options.faultAt ?? (() => undefined), {
      outside: (fault, process) => {
        if (fault === 'duplicate') this.queue.duplicate(process.messageId);
        if (fault === 'sweep') void this.#clock('sweep', HOUR);
      },
    });
    this.#quiet = new Injector(world, () => undefined, { outside() {} });
    this.queue = new SimQueue<Message>(world, {
      name: 'effect',
      visibilitySeconds: 360,
      maxReceiveCount: 20,
      deliver: (received) => {
        this.#waiting.push(received);
        this.#next();
      },
      dead: (body) => {
        if ('webhookId' in body) void buryWebhook(this.deps(new Process('dead'), this.#quiet), body);
      },
    });
  }

  async start(events = ['execution.status_changed']): Promise<void> {
    await this.memory.put({ ...keys.organisation(ORG), v: 1, id: ORG, name: 'Sim' });
    for (const name of Object.keys(this.#options.receivers)) await this.add(name, events);
    const every = (kind: 'sweep' | 'tick', ms: number, horizon: number): void => {
      void this.#clock(kind, horizon);
      this.world.after(ms, () => every(kind, ms, horizon));
    };
    every('sweep', 5 * MINUTE, 0);
    every('tick', MINUTE, 150_000);
  }

  async add(name: string, events: readonly string[]): Promise<void> {
    const id = webhookIdOf(name);
    const owner = { orgId: ORG, webhookId: id };
    const secretRef = await putDocument(this.secrets, owner, { secrets: [{ secret: SECRET }], headers: {} });
    const at = new Date(this.world.now).toISOString();
    await this.memory.put({
      ...keys.webhook(ORG, id),
      v: 1,
      id,
      orgId: ORG,
      url: `https://${name}.example/hook`,
      events: [...events],
      headerNames: [],
      state: 'enabled',
      secretRef,
      createdAt: at,
      updatedAt: at,
    });
    await this.memory.put(gateItem(newGate(ORG, id)));
  }

  /** A change of status: its row, and its message unless that is lost. */
  async event(lost = false): Promise<string> {
    const sequence = ++this.#sequence;
    const effectId = `eff_${String(sequence).padStart(26, '0')}`;
    const at = this.world.now;
    const detail = {
      executionId: 'exe_1',
      agentId: 'agt_1',
      from: 'RUNNING',
      to: 'PAUSED',
      at: new Date(at).toISOString(),
    };
    const common = { effectId, orgId: ORG, kind: 'bus' as const, detailType: BUS.statusChanged, at, sequence, step: 1 };
    await this.memory.put(effectItem({ ...common, detail: JSON.stringify(detail) }));
    if (!lost) this.queue.send({ orgId: ORG, effectId }, 0);
    return effectId;
  }

  async #clock(kind: 'sweep' | 'tick', horizon: number): Promise<void> {
    const process = new Process('clock');
    const deps = this.deps(process, this.#quiet);
    const ahead = {
      ...deps,
      clock: { now: () => this.world.now + (kind === 'sweep' ? horizon : 0), sleep: async () => {} },
    };
    const effects = {
      send: async (message: EffectMessage) => this.queue.send(message, 0),
      changeVisibility: async () => {},
    };
    await eachDue(ahead as unknown as ExecutionDeps, kind, this.world.now + horizon, (found) =>
      parseEffectPk(found.pk) === undefined ? wakeWebhook(ahead, found) : sweepEffect({ ...ahead, effects }, found),
    );
  }

  #next(): void {
    while (this.#busy < (this.#options.workers ?? 1_000)) {
      const received = this.#waiting.shift();
      if (received === undefined) return;
      this.#busy++;
      this.invocations++;
      void this.#work(received).finally(() => {
        this.#busy--;
        this.#next();
      });
    }
  }

  async #work({ messageId, receiptHandle, receiveCount, body }: Received<Message>): Promise<void> {
    const process = new Process(messageId);
    const deps = this.deps(process, this.injector);
    const work =
      'effectId' in body ? deliverEffect(this.#effectDeps(process, deps), body) : handleWebhookMessage(deps, body);
    const done = work.then(
      () => process.alive && this.queue.delete(messageId),
      (error: unknown) => {
        const planned = error instanceof Error && error.name === 'PortFailure';
        if (!planned) this.surprises.push(error);
        try {
          this.queue.changeVisibility(receiptHandle, retrySeconds(receiveCount));
        } catch (gone) {
          if (!(gone instanceof MessageGone)) throw gone;
        }
      },
    );
    // A dead worker answers nothing; its place in the pool is free when Lambda has noticed.
    await Promise.race([done, this.world.sleep(MINUTE)]);
  }

  #table(process: Process, injector: Injector): Table {
    const { memory } = this;
    const name = (sk: string): string => sk.split('#')[0] ?? '';
    return {
      get: (key, options) => injector.call(process, `get ${name(key.sk)}`, () => memory.get(key, options)),
      getMany: (many, options) => injector.call(process, 'getMany', () => memory.getMany(many, options)),
      query: (query) => injector.call(process, `query ${query.prefix ?? ''}`, () => memory.query(query)),
      put: (item, condition) => injector.call(process, `put ${name(item.sk)}`, () => memory.put(item, condition)),
      update: (key, changes, condition) =>
        injector.call(process, `update ${name(key.sk)}`, () => memory.update(key, changes, condition)),
      delete: (key, condition) => injector.call(process, `delete ${name(key.sk)}`, () => memory.delete(key, condition)),
      transact: (writes, token) => injector.call(process, 'transact', () => memory.transact(writes, token)),
    };
  }

  deps(process: Process, injector = this.injector): WebhookDeps {
    const { world } = this;
    return {
      table: this.#table(process, injector),
      clock: { now: () => world.now },
      log: { debug() {}, info() {}, warn() {}, error() {} },
      secrets: this.secrets,
      random: world.random,
      judgeUrl: () => undefined,
      webhooks: {
        send: (message, { delaySeconds }) =>
          injector.call(process, 'send', async () => this.queue.send(message, delaySeconds)),
        changeVisibility: async () => {},
      },
      fetch: this.#fetch(process, injector),
    };
  }

  #fetch(process: Process, injector: Injector): GuardedFetch {
    return {
      // Named like a tool: what is on its way to the outside arrives, whatever becomes of the sender.
      fetch: (request) => injector.call(process, 'tool post', () => this.#receive(request)),
    };
  }

  async #receive(request: Parameters<GuardedFetch['fetch']>[0]): ReturnType<GuardedFetch['fetch']> {
    const endpoint = new URL(request.url).hostname.split('.')[0] ?? '';
    const { id: eventId } = JSON.parse(String(request.body)) as { readonly id: string };
    const n = this.hits.filter((hit) => hit.endpoint === endpoint).length + 1;
    const answer = this.#options.receivers[endpoint]?.({ n, eventId, at: this.world.now }) ?? { status: 500 };
    const webhookId = request.headers['webhook-id'] ?? '';
    this.hits.push({ endpoint, webhookId, eventId, at: this.world.now, status: answer.status ?? 0 });
    await this.world.sleep(answer.ms ?? 20);
    if (answer.status === undefined) throw new Error('There was no complete answer within 10 seconds.');
    return {
      status: answer.status,
      headers: {},
      body: new TextEncoder().encode('told'),
      truncated: false,
      url: request.url,
    };
  }

  #effectDeps(process: Process, deps: WebhookDeps): EffectDeps {
    const toWebhooks = (effect: Parameters<typeof fanOut>[1]) => fanOut(deps, effect);
    return {
      ...deps,
      clock: { now: deps.clock.now, sleep: (ms) => this.world.sleep(ms) },
      effects: { send: async () => {}, changeVisibility: async () => {} },
      outlets: {
        bus: async (effect) => {
          await this.injector.call(process, 'publish', async () => void this.published.push(effect.effectId));
          await toWebhooks(effect);
        },
        webhook: toWebhooks,
        child: async () => {},
        ticket: async () => {},
      },
    };
  }

  rows(sk: string): Item[] {
    return this.memory.dump().filter((item) => item.sk.startsWith(sk) && parseKey(item) !== undefined);
  }
  deliveries(name?: string): Delivery[] {
    const all = this.rows('DELIVERY#').map(readDelivery);
    return name === undefined ? all : all.filter(({ webhookId }) => webhookId === webhookIdOf(name));
  }
  async gate(name: string): Promise<Gate> {
    const item = await this.memory.get(keys.webhookGate(ORG, webhookIdOf(name)));
    if (item === undefined) throw new Error('There is no gate.');
    return readGate(item);
  }
  async endpoint(name: string): Promise<Endpoint> {
    const item = await this.memory.get(keys.webhook(ORG, webhookIdOf(name)));
    if (item === undefined) throw new Error('There is no endpoint.');
    return readEndpoint(item);
  }
  pass(ms: number): Promise<void> {
    return this.world.run(this.world.now + ms, () => false);
  }
}

const parseKey = ({ pk, sk }: Item) => parseWebhookKey(pk, sk) ?? (sk.startsWith('HELD#') ? sk : undefined);
