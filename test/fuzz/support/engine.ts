/** The step engine and the use cases of executions over ports in memory, with a queue that keeps what is not acked. */

import type { EffectMessage } from '../../../lib/effect/effect.ts';
import { statusEvents } from '../../../lib/effect/status-events.ts';
import { decidePermission } from '../../../lib/execution/decide.ts';
import { type Execution, readExecution } from '../../../lib/execution/execution.ts';
import { giveInput } from '../../../lib/execution/input.ts';
import { type StepMessage, stepMessageSchema } from '../../../lib/execution/message.ts';
import { readAsk } from '../../../lib/execution/rows.ts';
import { startExecution } from '../../../lib/execution/start.ts';
import { NotYet, type StepDeps, type UpperFloors } from '../../../lib/execution/step/deps.ts';
import { processStep } from '../../../lib/execution/step/process.ts';
import { makeRowMemory } from '../../../lib/execution/step/row-memory.ts';
import { makeIds } from '../../../lib/kernel/ids.ts';
import { keys } from '../../../lib/kernel/keys.ts';
import type { Clock } from '../../../lib/kernel/ports.ts';
import type { Item } from '../../../lib/kernel/table.ts';
import type { ModelClient } from '../../../lib/model/model.ts';
import { makeFiles } from '../../../lib/resource/files.ts';
import { allTools } from '../../../lib/tools/toolkit.ts';
import { makeMemoryBlobs } from '../../support/memory-blobs.ts';
import { makeMemoryLog } from '../../support/memory-log.ts';
import { makeMemoryQueue } from '../../support/memory-queue.ts';
import { makeMemorySecrets } from '../../support/memory-secrets.ts';
import { makeMemoryTable } from '../../support/memory-table.ts';

export const NOW = Date.parse('2026-03-01T12:00:00.000Z');
export const LEASE_MS = 30_000;
const ACCOUNT = { baseUrl: 'http://model.example', apiKey: 'key', trusted: true };
/** One micro-dollar a token. */
const PRICE = { inputUsdPerM: 1, cachedUsdPerM: 1, outputUsdPerM: 1, contextTokens: 128_000 };

const finished: ModelClient = {
  complete: async () => ({
    kind: 'reply',
    content: '',
    toolCalls: [{ id: 'call_0', name: 'finish', arguments: '{"result":"done"}' }],
    finishReason: 'tool_calls',
    refused: false,
    usage: { input: 10, output: 5, cached: 0 },
  }),
};

interface Pending {
  readonly id: string;
  readonly message: StepMessage;
  /** Nobody receives it before. */
  visibleAt: number;
  receives: number;
}

export const makeEngine = () => {
  let time = NOW;
  let owners = 0;
  const table = makeMemoryTable(() => time);
  const blobs = makeMemoryBlobs();
  const secrets = makeMemorySecrets();
  const steps = makeMemoryQueue<StepMessage>();
  const effects = makeMemoryQueue<EffectMessage>();
  const log = makeMemoryLog();
  const ids = makeIds();
  /** Sleepers wait for their signal only: a heartbeat under a clock that runs by itself would beat for ever. */
  const clock: Clock = {
    now: () => time,
    sleep: (_ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) resolve();
        signal?.addEventListener('abort', () => resolve(), { once: true });
      }),
  };
  const upper: UpperFloors = statusEvents({ effects, log });
  const filesOf = (orgId: string, executionId: string) => makeFiles({ table, blobs, clock, orgId, executionId });
  const resolveModel = async () => ({ account: ACCOUNT, model: 'scripted', price: PRICE });
  const stepDeps = (models: ModelClient = finished): StepDeps => ({
    table,
    steps,
    clock,
    log,
    metrics: { count() {} },
    upper,
    blobs,
    memory: makeRowMemory(),
    models,
    resolveModel,
    tools: new Map(allTools.map((tool) => [tool.name, tool] as const)),
    filesOf,
    fetch: {
      fetch: async ({ url }) => ({ status: 200, headers: {}, body: new Uint8Array([111, 107]), truncated: false, url }),
    },
    newOwner: () => `owner-${owners++}`,
    random: () => 0.5,
    settings: { leaseMs: LEASE_MS, stepDelaySeconds: 0, maxWaitMs: 3_600_000 },
  });

  /** What a queue would hold: sent and not acked yet. */
  const pending: Pending[] = [];
  const collect = (): void => {
    for (const { message, delaySeconds } of steps.take()) {
      const visibleAt = time + delaySeconds * 1_000;
      pending.push({ id: `m-${owners++}`, message: stepMessageSchema.parse(message), visibleAt, receives: 0 });
    }
    pending.sort((a, b) => a.visibleAt - b.visibleAt);
  };

  /**
   * Delivers the next message once, when it is due, to a process with `own` things in place of the usual. Answers what it
   * threw; such a message comes back after its lease.
   */
  const deliver = async (models?: ModelClient, own: Partial<StepDeps> = {}): Promise<unknown> => {
    collect();
    const next = pending.shift();
    if (next === undefined) return undefined;
    next.receives++;
    time = Math.max(time, next.visibleAt);
    try {
      const delivery = {
        messageId: next.id,
        receiptHandle: `${next.id}/${next.receives}`,
        receiveCount: next.receives,
      };
      await processStep({ ...stepDeps(models), ...own }, next.message, delivery, () => 840_000);
      return undefined;
    } catch (error) {
      next.visibleAt = time + LEASE_MS + 2_000;
      pending.push(next);
      return error;
    } finally {
      time += 1_000;
      collect();
    }
  };

  const execution = async (orgId: string, executionId: string): Promise<Execution> => {
    const item = await table.get(keys.execution(orgId, executionId));
    if (item === undefined) throw new Error('The execution is missing.');
    return readExecution(item);
  };

  return {
    table,
    blobs,
    secrets,
    steps,
    effects,
    log,
    ids,
    clock,
    upper,
    filesOf,
    resolveModel,
    stepDeps,
    pending,
    deliver,
    execution,
    now: () => time,
    pass: (ms: number): void => {
      time += ms;
    },
    /** Messages in the queue, sent ones included. */
    queued: (): number => {
      collect();
      return pending.length;
    },
    executionDeps: () => ({ ...stepDeps(), ids }),
    /** Delivers until nothing is queued. Answers every error that was no NotYet. */
    async drain(models?: ModelClient, most = 300): Promise<unknown[]> {
      const errors: unknown[] = [];
      for (let turn = 0; turn < most && this.queued() > 0; turn++) {
        const error = await deliver(models);
        if (error !== undefined && !(error instanceof NotYet)) errors.push(error);
        if (error === undefined) continue;
        if (pending.some(({ receives }) => receives > 20)) throw new Error('A message wears out.', { cause: error });
      }
      return errors;
    },
    async start(orgId: string, agentId: string, config: { readonly [key: string]: unknown } = {}): Promise<string> {
      const executionId = ids.next('exe', time);
      await startExecution(
        { ...stepDeps(), resolveModel },
        { orgId, agentId, executionId, config, alongside: () => [] },
      );
      return executionId;
    },
    /** Plays the person a run waits for. False when it waits for nobody. */
    async answer(orgId: string, executionId: string, approve: boolean): Promise<boolean> {
      const { status } = await this.execution(orgId, executionId);
      const deps = stepDeps();
      if (status === 'WAITING_FOR_INPUT') {
        const given = { kind: 'message', origin: 'person', trust: 'explicit' as const, wake: true, text: 'An answer.' };
        await giveInput(deps, { orgId, executionId }, given);
        return true;
      }
      if (status !== 'WAITING_FOR_PERMISSION') return false;
      const asks = table.dump().filter((item) => item.pk.includes(executionId) && item.sk.startsWith('ASK#'));
      const open = asks.map(readAsk).find((ask) => ask.state === 'pending');
      if (open === undefined) throw new Error('It waits for a permission that nobody can give.');
      await decidePermission(deps, { orgId, permissionId: open.askId, approve, actor: 'person' });
      return true;
    },
    /** Writes rows as they stand, past all guards. */
    async plant(...items: readonly Item[]): Promise<void> {
      for (const item of items) await table.put(item);
    },
  };
};

export type Engine = ReturnType<typeof makeEngine>;

export const ORG = 'org_00000000000000000000000000';
export const AGENT = 'agt_00000000000000000000000000';

/** An organisation with one agent, without the API. */
export const makeTenantEngine = async (): Promise<Engine> => {
  const engine = makeEngine();
  const at = new Date(NOW).toISOString();
  const own = { v: 1, name: 'Fuzz', createdAt: at };
  await engine.plant(
    { ...keys.organisation(ORG), ...own, id: ORG, defaultProjectId: 'prj_00000000000000000000000000' },
    {
      ...keys.agent(ORG, AGENT),
      ...own,
      id: AGENT,
      orgId: ORG,
      workflow: 'goal',
      projectId: 'prj_00000000000000000000000000',
      createdBy: 'key_00000000000000000000000000',
      updatedAt: at,
    },
  );
  return engine;
};
