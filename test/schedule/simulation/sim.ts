/** Schedules under faults: the real code of `lib/schedule` on ports in memory, under virtual time. */
import { createAgent } from '../../../lib/agent/create-agent.ts';
import { eachDue, TICK_HORIZON_MS } from '../../../lib/execution/clock.ts';
import { terminateExecution } from '../../../lib/execution/control.ts';
import { A, readExecution } from '../../../lib/execution/execution.ts';
import { isTerminal, STOPPED } from '../../../lib/execution/status.ts';
import { stopChanges, writeStatus } from '../../../lib/execution/step/stop.ts';
import { makeIds } from '../../../lib/kernel/ids.ts';
import { keys } from '../../../lib/kernel/keys.ts';
import { eq, type Item, type Table } from '../../../lib/kernel/table.ts';
import { patchSchedule, pauseSchedule, resumeSchedule } from '../../../lib/schedule/change-schedule.ts';
import { createSchedule, type NewSchedule } from '../../../lib/schedule/create-schedule.ts';
import { buryFire } from '../../../lib/schedule/dead-letter.ts';
import { type FireDeps, fireSchedule } from '../../../lib/schedule/fire.ts';
import { scheduleFloor } from '../../../lib/schedule/floor.ts';
import type { FireMessage } from '../../../lib/schedule/message.ts';
import { readSchedule, type Schedule } from '../../../lib/schedule/schedule.ts';
import { tickSchedule } from '../../../lib/schedule/tick.ts';
import { bootstrap } from '../../../lib/tenancy/bootstrap.ts';
import { type Fault, Injector, Process } from '../../simulation/faults.ts';
import { type Received, SimQueue } from '../../simulation/sim-queue.ts';
import { World } from '../../simulation/world.ts';
import { type MemoryTable, makeMemoryTable } from '../../support/memory-table.ts';

export const MINUTE = 60_000;

export interface Plan {
  readonly seed: number;
  readonly schedule: Omit<NewSchedule, 'orgId' | 'actor' | 'agentId' | 'startAt'>;
  /** First due time after the beginning, ms. */
  readonly firstAfterMs: number;
  readonly runMs: number;
  readonly runJitterMs?: number;
  /** The first run stops with an error instead of ending. */
  readonly needsMend?: boolean;
  /** Virtual time in all, ms. */
  readonly lastsMs: number;
  /** No process runs in this span after the beginning. */
  readonly outage?: readonly [from: number, to: number];
  readonly faultAt?: (call: number, name: string) => Fault | undefined;
  /** People who act by themselves. */
  readonly people?: (sim: ScheduleSim) => void;
}

/** One run, as the table saw it. */
export interface Run {
  readonly id: string;
  readonly began: number;
  /** When it ended, or began to wait for a mend. */
  ended: number | undefined;
}

const WRITES = /^(put|update|transact)/;
const silent = { debug() {}, info() {}, warn() {}, error() {} };

export class ScheduleSim {
  readonly plan: Plan;
  readonly world: World;
  readonly memory: MemoryTable;
  readonly queue: SimQueue<FireMessage>;
  readonly injector: Injector;
  readonly runs = new Map<string, Run>();
  readonly surprises: unknown[] = [];
  readonly #outside: Injector;
  /** The row as the latest accepted patch left it. */
  patched: Schedule | undefined;
  scheduleId = '';
  orgId = '';
  startAt = 0;
  #born = 0;

  constructor(plan: Plan) {
    this.plan = plan;
    const world = new World(plan.seed);
    this.world = world;
    this.memory = makeMemoryTable(() => world.now);
    this.injector = new Injector(world, plan.faultAt ?? (() => undefined), {
      outside: (fault, process) => this.#act(fault, process),
    });
    this.#outside = new Injector(world, () => undefined, { outside() {} });
    this.queue = new SimQueue<FireMessage>(world, {
      name: 'fire',
      visibilitySeconds: 180,
      maxReceiveCount: 20,
      deliver: (received) => this.#deliver(received),
      dead: (body) => void buryFire(this.deps(), body),
    });
  }

  get schedule(): Schedule {
    const item = this.memory.dump().find(({ sk }) => sk === 'SCHEDULE');
    if (item === undefined) throw new Error('There is no schedule.');
    return readSchedule(item);
  }

  #table(process: Process, injector: Injector): Table {
    const { memory } = this;
    const call = <T>(name: string, work: () => Promise<T>): Promise<T> =>
      injector.call(process, name, async () => {
        const result = await work();
        if (WRITES.test(name)) this.#note();
        return result;
      });
    return {
      get: (key, options) => call(`get ${key.sk}`, () => memory.get(key, options)),
      getMany: (many, options) => call('getMany', () => memory.getMany(many, options)),
      query: (query) => (query.index === 'due' ? memory.query(query) : call('query', () => memory.query(query))),
      put: (item, condition) => call(`put ${item.sk}`, () => memory.put(item, condition)),
      update: (key, changes, condition) => call(`update ${key.sk}`, () => memory.update(key, changes, condition)),
      delete: (key, condition) => call('delete', () => memory.delete(key, condition)),
      transact: (writes, token) => call('transact', () => memory.transact(writes, token)),
    };
  }

  deps(process = new Process(`outside-${this.#born++}`), injector = this.#outside): FireDeps {
    const { world } = this;
    const fires: FireDeps['fires'] = {
      send: (message, { delaySeconds }) =>
        injector.call(process, 'send fire', async () => this.queue.send(message, delaySeconds)),
      changeVisibility: async () => undefined,
    };
    return {
      table: this.#table(process, injector),
      fires,
      steps: {
        send: () => injector.call(process, 'send step', async () => undefined),
        changeVisibility: async () => undefined,
      },
      clock: { now: () => world.now, sleep: (ms, signal) => world.sleep(ms, signal) },
      log: silent,
      metrics: { count() {} },
      upper: scheduleFloor({ fires: () => fires, log: silent }),
      resolveModel: async () => undefined,
    };
  }

  get down(): boolean {
    const [from = 0, to = 0] = this.plan.outage ?? [];
    const elapsed = this.world.now - this.startAt + this.plan.firstAfterMs;
    return elapsed >= from && elapsed < to;
  }

  #deliver(received: Received<FireMessage>): void {
    if (this.down) return;
    const process = new Process(received.messageId);
    fireSchedule(this.deps(process, this.injector), received.body).then(
      () => process.alive && this.queue.delete(received.messageId),
      (error: unknown) => {
        this.#unexpected(error);
        this.#comeBack(received);
      },
    );
  }

  /** As the handler does: 2, 4, 6 s. */
  #comeBack({ receiptHandle, receiveCount }: Received<FireMessage>): void {
    try {
      this.queue.changeVisibility(receiptHandle, 2 * receiveCount);
    } catch (error) {
      this.#unexpected(error);
    }
  }

  #unexpected(error: unknown): void {
    if (!(error instanceof Error) || !['PortFailure', 'NotYet', 'MessageGone'].includes(error.name)) {
      this.surprises.push(error);
    }
  }

  /** Runs begin and end in the table; whoever sees one begin sets its end. */
  #note(): void {
    for (const item of this.memory.dump().filter(({ sk }) => sk === 'EXEC')) {
      const execution = readExecution(item);
      const { executionId: id, status } = execution;
      const known = this.runs.get(id);
      if (known === undefined) {
        this.runs.set(id, { id, began: this.world.now, ended: undefined });
        const first = this.runs.size === 1;
        const lasts = this.plan.runMs + this.world.random() * (this.plan.runJitterMs ?? 0);
        this.world.after(lasts, () => void this.#end(item, first && this.plan.needsMend === true));
      } else if (known.ended === undefined && (isTerminal(status) || STOPPED.includes(status))) {
        known.ended = this.world.now;
      }
    }
  }

  /** As a step would: again and again until it stands. */
  async #end(item: Item, mend: boolean): Promise<void> {
    const { orgId, executionId } = readExecution(item);
    for (let attempt = 0; attempt < 20; attempt++) {
      if (this.runs.get(executionId)?.ended !== undefined) return;
      const process = new Process(`end-${this.#born++}`);
      const deps = this.deps(process, this.injector);
      const work = mend ? this.#stop(deps, item) : terminateExecution(deps, { orgId, executionId });
      const quiet = work.catch(() => undefined);
      await Promise.race([quiet, this.world.sleep(20_000)]);
    }
  }

  #stop(deps: FireDeps, item: Item): Promise<void> {
    const execution = readExecution(item);
    const now = this.world.now;
    const stop = { event: 'error' as const, reason: 'broken', message: 'broken' };
    return writeStatus(
      deps,
      { execution, from: 'RUNNING', to: 'ERROR_PAUSED', reason: 'broken', at: now },
      {
        update: keys.execution(execution.orgId, execution.executionId),
        changes: stopChanges(stop, 'ERROR_PAUSED', now),
        if: eq(A.status, 'RUNNING'),
      },
    );
  }

  get #command() {
    return { orgId: this.orgId, scheduleId: this.scheduleId, actor: 'person' };
  }
  pause(): Promise<unknown> {
    return pauseSchedule(this.deps(), this.#command).catch(() => undefined);
  }
  resume(): Promise<unknown> {
    return resumeSchedule(this.deps(), this.#command).catch(() => undefined);
  }
  /** Remembers the goals that were accepted last. */
  async patch(changes: Parameters<typeof patchSchedule>[2]): Promise<void> {
    const patched = await patchSchedule(this.deps(), this.#command, changes).catch(() => undefined);
    if (patched !== undefined && (this.patched?.version ?? 0) < patched.version) this.patched = patched;
  }
  tick(injector = this.injector): Promise<void> {
    const deps = this.deps(new Process(`tick-${this.#born++}`), injector);
    return eachDue(deps, 'tick', this.world.now + TICK_HORIZON_MS, (found) => tickSchedule(deps, found));
  }

  /** What others do in the middle of a call. */
  #act(fault: Fault, process: Process): void {
    if (fault === 'duplicate') this.queue.duplicate(process.messageId);
    if (fault === 'sweep') void Promise.all([this.tick(this.#outside), this.tick(this.#outside)]);
    if (fault === 'input') void this.patch({ goals: [`goal ${this.#born++}`] });
    if (fault === 'pause_and_resume') {
      void this.pause();
      this.world.after(10_000, () => void this.resume());
    }
  }

  async play(): Promise<this> {
    const deps = { ...this.deps(), ids: makeIds(() => new Uint8Array(10).fill(this.#born++ % 256)) };
    const memory = { ...deps, table: this.memory };
    const { organisationId } = await bootstrap(memory, { organisation: 'o' });
    this.orgId = organisationId;
    const available = { tools: [], workflows: ['goal'] };
    const given = { orgId: organisationId, actor: 'person', name: 'agent', config: { goals: ['x'] } };
    const agent = await createAgent(memory, available, given, this.world.now);
    this.startAt = this.world.now + this.plan.firstAfterMs;
    const end = this.world.now + this.plan.lastsMs;
    const process = new Process('create');
    const outside = this.deps(process, this.#outside);
    void createSchedule(
      { ...outside, ids: deps.ids },
      { orgId: organisationId, actor: 'person', agentId: agent.id, startAt: this.startAt, ...this.plan.schedule },
    ).then(({ id }) => {
      this.scheduleId = id;
    });
    const tick = (): void => {
      if (!this.down) void this.tick().catch((error: unknown) => this.#unexpected(error));
      this.world.after(MINUTE, tick);
    };
    this.world.after(this.world.random() * MINUTE, tick);
    this.plan.people?.(this);
    await this.world.run(end, () => false);
    return this;
  }
}
