/** One run of executions on in-memory ports, with the API, the clock and the queue around it. */
import { attentionFloor } from '../../lib/attention/floor.ts';
import { sweepEffect } from '../../lib/effect/deliver.ts';
import { parseEffectPk } from '../../lib/effect/effect.ts';
import { eachDue, sweepExecution, TICK_HORIZON_MS, tickExecution } from '../../lib/execution/clock.ts';
import { pauseExecution, resumeExecution, terminateExecution } from '../../lib/execution/control.ts';
import { judgeDeadLetter } from '../../lib/execution/dead-letter.ts';
import { decidePermission } from '../../lib/execution/decide.ts';
import { type Execution, readExecution } from '../../lib/execution/execution.ts';
import { expireAsk } from '../../lib/execution/expire.ts';
import { REPLY_N } from '../../lib/execution/feed.ts';
import type { At } from '../../lib/execution/get.ts';
import { giveInput } from '../../lib/execution/input.ts';
import { type StepMessage, stepMessageSchema } from '../../lib/execution/message.ts';
import { readAsk } from '../../lib/execution/rows.ts';
import { startExecution } from '../../lib/execution/start.ts';
import { giveBack } from '../../lib/execution/step/daily-budget.ts';
import type { ExecutionDeps, StepDeps } from '../../lib/execution/step/deps.ts';
import { NotYet } from '../../lib/execution/step/deps.ts';
import { processStep } from '../../lib/execution/step/process.ts';
import { together } from '../../lib/execution/upper-floors.ts';
import { AppError } from '../../lib/kernel/errors.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { MessageGone } from '../../lib/kernel/ports.ts';
import { askUser } from '../../lib/tools/ask-user.ts';
import { finish } from '../../lib/tools/finish.ts';
import { runAgent } from '../../lib/tools/run-agent.ts';
import type { Files, Tool } from '../../lib/tools/tool.ts';
import { wait } from '../../lib/tools/wait.ts';
import { settleBooks, usageFloor } from '../../lib/usage/floor.ts';
import { makeMemoryBlobs } from '../support/memory-blobs.ts';
import { makeMemoryTable } from '../support/memory-table.ts';
import { keepBooks } from './book-checks.ts';
import { DEAD_LETTER, type Fault, Injector, PortFailure, Process } from './faults.ts';
import type { Scenario } from './scenario.ts';
import { SimEffects } from './sim-effects.ts';
import { Machines } from './sim-machines.ts';
import { PRICE, SimModel } from './sim-model.ts';
import { type Received, SimQueue } from './sim-queue.ts';
import { AGENT, ORG, seedRows } from './sim-seed.ts';
import { ObservedTable } from './sim-table.ts';
import { effectTools } from './sim-tools.ts';
import { World } from './world.ts';

export { ORG };
export const executionIdOf = (index: number): string => `exe_${String(index).padStart(26, '0')}`;
export const LEASE_MS = 30_000;
export const HOUR = 3_600_000;

export interface Effect {
  readonly tool: string;
  readonly key: string;
  readonly at: number;
}

const noFiles = (): Promise<never> => Promise.reject(new Error('The simulated tools use no files.'));
const NO_FILES: Files = { write: noFiles, append: noFiles, read: noFiles, delete: noFiles, list: noFiles };
const silent = { debug() {}, info() {}, warn() {}, error() {} };

export class Sim {
  readonly world: World;
  readonly memory;
  readonly observed: ObservedTable;
  readonly blobs = makeMemoryBlobs();
  readonly queue: SimQueue<StepMessage>;
  readonly toEffect: SimEffects;
  readonly model: SimModel;
  readonly injector: Injector;
  readonly effects: Effect[] = [];
  readonly acceptedInputs: { readonly executionId: string; readonly text: string; readonly at: number }[] = [];
  readonly violations: string[] = [];
  readonly decisions: { readonly id: string; readonly ok: boolean }[] = [];
  /** Failures nobody expected: bugs in the product or in the simulation. */
  readonly surprises: unknown[] = [];
  readonly processes = new Set<Process>();
  readonly #machines = new Machines();
  readonly scenario: Scenario;
  /** People, `tick` and `sweep`. */
  readonly outside: Injector;
  #started = false;
  #owners = 0;
  #born = 0;
  #inputs = 0;

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    const world = new World(scenario.seed);
    this.world = world;
    this.memory = makeMemoryTable(() => world.now);
    this.observed = new ObservedTable(this.memory, world);
    this.model = new SimModel(world, scenario.script, scenario.modelLatencyMs ?? 60, scenario.answers);
    this.model.troubles.push(...(scenario.troubles ?? []));
    this.model.busyOnce = scenario.busyOnce === true;
    if (scenario.usageOf !== undefined) this.model.usageOf = scenario.usageOf;
    const hooks = { outside: (fault: Fault, process: Process) => this.#act(fault, process) };
    this.injector = new Injector(world, scenario.faultAt ?? (() => undefined), hooks, scenario.freezeMs);
    const outside = (call: number, name: string) => (this.#started ? scenario.outsideFaultAt?.(call, name) : undefined);
    this.outside = new Injector(world, outside, { outside() {} }, scenario.freezeMs);
    this.queue = new SimQueue<StepMessage>(world, {
      name: 'step',
      visibilitySeconds: 5_400,
      maxReceiveCount: scenario.maxReceiveCount ?? 20,
      deliver: (received) => this.#deliver(received),
      dead: (body, id) => this.#dead(body, id),
    });
    this.toEffect = new SimEffects({
      world,
      newProcess: (name) => this.#newProcess(name),
      deps: (process) => this.deps(process, this.injector),
      injector: this.injector,
      note: (error) => this.#note(error),
    });
  }

  /** Messages that are still to be dealt with, of steps and effects. */
  get underWay(): number {
    return this.queue.size + this.toEffect.queue.size;
  }

  /** Ports of people and of the clock, each call of them a process of its own. */
  deps(process = this.#newProcess('outside'), injector = this.outside): ExecutionDeps & Pick<StepDeps, 'resolveModel'> {
    const { world } = this;
    return {
      table: this.observed.for(process, injector),
      steps: {
        send: (message, { delaySeconds }) =>
          injector.call(process, 'send', async () => this.queue.send(stepMessageSchema.parse(message), delaySeconds)),
        changeVisibility: (handle, seconds) =>
          injector.call(process, 'visibility', async () => this.queue.changeVisibility(handle, seconds)),
      },
      clock: { now: () => world.now + process.skewMs, sleep: (ms, signal) => world.sleep(ms, signal) },
      log: silent,
      metrics: { count() {} },
      upper: together([
        attentionFloor,
        usageFloor({ table: this.observed.for(process, injector) }),
        this.toEffect.floor(process, injector),
      ]),
      resolveModel: async () => ({
        account: { baseUrl: 'http://model', apiKey: 'key', trusted: true },
        model: 'scripted',
        price: PRICE,
      }),
    };
  }

  #stepDeps(process: Process): StepDeps {
    return {
      ...this.deps(process, this.injector),
      blobs: {
        put: (key, body, type) => this.injector.call(process, 'blob put', () => this.blobs.put(key, body, type)),
        get: (key) => this.injector.call(process, 'blob get', () => this.blobs.get(key)),
      },
      memory: this.#machines.memoryFor(process, this.processes),
      crowd: { join() {}, aside: () => this.scenario.aside ?? 0 },
      models: this.model.for(process, this.injector, (asking) => this.#checkPurchase(asking)),
      tools: new Map<string, Tool>(
        [finish, askUser, wait, runAgent, ...effectTools(this, process)].map(
          (tool) => [tool.name, tool as Tool] as const,
        ),
      ),
      filesOf: () => NO_FILES,
      fetch: { fetch: () => Promise.reject(new Error('The simulated tools use no network.')) },
      newOwner: () => `owner-${this.#owners++}`,
      random: this.world.random,
      settings: {
        leaseMs: LEASE_MS,
        stepDelaySeconds: this.scenario.stepDelaySeconds ?? 2,
        maxWaitMs: HOUR,
      },
    };
  }

  async execution(index = 0): Promise<Execution> {
    const item = await this.memory.get(keys.execution(ORG, executionIdOf(index)));
    if (item === undefined) throw new Error('The execution is missing.');
    return readExecution(item);
  }

  /** A reply that was stored before this process claimed is there to be found: buying another one is a waste. */
  #checkPurchase(process: Process): void {
    const work = this.workOf.get(process);
    if (work === undefined || process.claimedAt === undefined) return;
    const stored = this.observed.writtenAt(keys.feed(ORG, work.executionId, work.seq, REPLY_N));
    if (stored !== undefined && stored < process.claimedAt) {
      this.violations.push(`4: step ${work.seq} was bought again although its reply was stored before the claim`);
    }
  }
  readonly workOf = new Map<Process, StepMessage>();

  #newProcess(messageId: string): Process {
    return new Process(messageId, this.scenario.skewOf?.(this.#born++) ?? 0, this.scenario.clockRange);
  }

  #deliver(received: Received<StepMessage>): void {
    const process = this.#newProcess(received.messageId);
    this.workOf.set(process, received.body);
    this.processes.add(process);
    processStep(this.#stepDeps(process), received.body, received, () => 840_000)
      .then(() => {
        if (process.alive) this.queue.delete(received.messageId);
      })
      .catch((error: unknown) => this.#note(error))
      .finally(() => this.processes.delete(process));
  }

  /** The consumer of the dead letters, at least once like any other; what it leaves comes back after its visibility. */
  #dead(body: StepMessage, id: string): void {
    let done = false;
    const attempt = (): void => {
      if (done) return;
      this.world.after(360_000, attempt);
      judgeDeadLetter(this.#stepDeps(this.#newProcess(DEAD_LETTER)), body, id)
        .then(() => {
          done = true;
        })
        .catch((error: unknown) => this.#note(error));
    };
    attempt();
  }

  #note(error: unknown): void {
    if (error instanceof NotYet) return;
    if (error instanceof Error && (error.name === 'PortFailure' || error instanceof MessageGone)) return;
    this.surprises.push(error);
  }

  /** Somebody else acts in the middle of a step's port call. */
  #act(fault: Fault, process: Process): void {
    const executionId = this.workOf.get(process)?.executionId ?? executionIdOf(0);
    if (fault === 'duplicate') {
      this.queue.duplicate(process.messageId);
      this.toEffect.queue.duplicate(process.messageId);
    }
    if (fault === 'pause') void this.pause(executionId);
    if (fault === 'resume') void this.resume(executionId);
    if (fault === 'terminate') void this.terminate(executionId);
    if (fault === 'input') void this.input(executionId);
    if (fault === 'sweep') void this.sweep(true);
    if (fault === 'pause_and_resume') void this.pause(executionId).then(() => this.resume(executionId));
    if (fault === 'resume_twice') {
      const twice = () => Promise.all([this.resume(executionId), this.resume(executionId)]);
      void this.pause(executionId).then(twice);
    }
  }

  async #quietly(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      // Refusals are answers; anything else is a fault of ours.
      if (!(error instanceof AppError || error instanceof PortFailure)) this.surprises.push(error);
      return false;
    }
  }

  giveBack(read: Execution): Promise<boolean> {
    return this.#quietly(() => giveBack(this.deps(), read));
  }
  settleBooks({ orgId, executionId }: At): Promise<boolean> {
    return this.#quietly(() => settleBooks(this.deps(), { orgId, executionId }));
  }
  /** The most that a day's budget row ever said was given out, micro-dollars. */
  get mostGranted(): number {
    return this.observed.mostGranted;
  }

  pause(executionId = executionIdOf(0)): Promise<boolean> {
    return this.#quietly(() => pauseExecution(this.deps(), { orgId: ORG, executionId }));
  }
  resume(executionId = executionIdOf(0)): Promise<boolean> {
    return this.#quietly(() => resumeExecution(this.deps(), { orgId: ORG, executionId }));
  }
  terminated = false;
  terminate(executionId = executionIdOf(0)): Promise<boolean> {
    this.terminated = true;
    return this.#quietly(() => terminateExecution(this.deps(), { orgId: ORG, executionId }));
  }
  async input(executionId = executionIdOf(0)): Promise<boolean> {
    const text = `input-${this.#inputs++}`;
    const given = { kind: 'message', origin: 'person', trust: 'explicit' as const, wake: true, text };
    const ok = await this.#quietly(() => giveInput(this.deps(), { orgId: ORG, executionId }, given));
    if (ok) this.acceptedInputs.push({ executionId, text, at: this.world.now });
    return ok;
  }
  /**
   * @param late only what is decided already, as a person whose page is old
   * @param behindMs so far the clock of the process that answers is behind
   */
  async decide(approve: boolean, late = false, behindMs = 0): Promise<void> {
    for (const item of this.memory.dump().filter((each) => each.sk.startsWith('ASK#'))) {
      const ask = readAsk(item);
      if (ask.kind !== 'permission' || (ask.state === 'pending') === late) continue;
      const decision = { orgId: ORG, permissionId: ask.askId, approve, actor: 'person' };
      const process = behindMs === 0 ? this.#newProcess('outside') : new Process('outside', -behindMs);
      const decided = () => decidePermission(this.deps(process), decision);
      this.decisions.push({ id: ask.askId, ok: await this.#quietly(decided) });
    }
  }

  /** `early`: the clock of the index runs ahead, as a sweep in the middle of a healthy step would see it. */
  async sweep(early = false): Promise<void> {
    const deps = this.deps();
    const ahead = early ? { ...deps, clock: { ...deps.clock, now: () => deps.clock.now() + HOUR / 2 } } : deps;
    await eachDue(ahead, 'sweep', ahead.clock.now(), (item) =>
      parseEffectPk(item.pk) === undefined
        ? sweepExecution(ahead, item)
        : sweepEffect({ ...ahead, effects: this.toEffect.port(this.#newProcess('outside'), this.outside) }, item),
    );
  }
  async tick(): Promise<void> {
    const deps = this.deps();
    await eachDue(deps, 'tick', deps.clock.now() + TICK_HORIZON_MS, (item) =>
      item.sk.startsWith('ASK#') ? expireAsk(deps, item) : tickExecution(deps, item),
    );
  }

  async start(): Promise<void> {
    await seedRows(this.memory, new Date(this.world.now).toISOString(), this.scenario);
    const starts = Array.from({ length: this.scenario.executions ?? 1 }, (_, index) =>
      startExecution(this.deps(), {
        orgId: ORG,
        agentId: AGENT,
        executionId: executionIdOf(index),
        config: { maxIterations: 1_000, maxCostUsd: 1_000, repeatLimit: 1_000, ...this.scenario.config },
        ...(this.scenario.ticket === true && { ticket: { id: `tkt_${index}`, parked: false, tainted: false } }),
        alongside: () => [],
      }).catch((error: unknown) => this.surprises.push(error)),
    );
    void Promise.all(starts).then(() => {
      this.#started = true;
    });
    await this.world.run(this.world.now + 60_000, () => this.#started);
    const everyFive = (): void => {
      void this.sweep().catch((error: unknown) => this.#note(error));
      this.world.after(300_000, everyFive);
    };
    const everyMinute = (): void => {
      void this.tick().catch((error: unknown) => this.#note(error));
      this.world.after(60_000, everyMinute);
    };
    if (this.scenario.clock !== false) {
      this.world.after(300_000, everyFive);
      this.world.after(60_000, everyMinute);
    }
    if (this.scenario.books === true) keepBooks(this);
    this.scenario.people?.(this);
  }
}
