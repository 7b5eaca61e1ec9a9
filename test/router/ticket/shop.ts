/** Workers in memory: the real engine, the real tickets and Threads, a model that a test scripts, and ports that can fail. */

import { readAttention } from '../../../lib/attention/attention.ts';
import { attentionFloor } from '../../../lib/attention/floor.ts';
import { deliverEffect, type EffectDeps, sweepEffect } from '../../../lib/effect/deliver.ts';
import type { Effect, EffectMessage } from '../../../lib/effect/effect.ts';
import { parseEffectPk } from '../../../lib/effect/effect.ts';
import { eachDue, sweepExecution } from '../../../lib/execution/clock.ts';
import { decidePermission } from '../../../lib/execution/decide.ts';
import { type Execution, readExecution } from '../../../lib/execution/execution.ts';
import type { StepMessage } from '../../../lib/execution/message.ts';
import { readAsk, readInput } from '../../../lib/execution/rows.ts';
import { NotYet, type StepDeps } from '../../../lib/execution/step/deps.ts';
import { processStep } from '../../../lib/execution/step/process.ts';
import { makeRowMemory } from '../../../lib/execution/step/row-memory.ts';
import { together } from '../../../lib/execution/upper-floors.ts';
import { makeIds } from '../../../lib/kernel/ids.ts';
import { keys, parseExecutionPk } from '../../../lib/kernel/keys.ts';
import { eq, type Item, type Value, type Write } from '../../../lib/kernel/table.ts';
import type { ModelRequest } from '../../../lib/model/model.ts';
import { namesHandle } from '../../../lib/router/gate/mentions.ts';
import type { MandateScope } from '../../../lib/router/mandate/mandate.ts';
import type { PostingMessage } from '../../../lib/router/message.ts';
import { readPosting } from '../../../lib/router/outbox/posting.ts';
import { loadPolicy } from '../../../lib/router/policy/load-policy.ts';
import type { Policy } from '../../../lib/router/policy/policy.ts';
import { headItem, versionItem } from '../../../lib/router/policy/policy-row.ts';
import type { ThreadDeps } from '../../../lib/router/thread/deps.ts';
import { findThread, findTrigger } from '../../../lib/router/thread/find.ts';
import { triggerItem } from '../../../lib/router/thread/rows.ts';
import { type NewEvent, type StoredTrigger, storeTrigger } from '../../../lib/router/thread/store.ts';
import { subscriptionWrite } from '../../../lib/router/thread/thread-writes.ts';
import type { TicketDeps } from '../../../lib/router/ticket/deps.ts';
import { makeDesk } from '../../../lib/router/ticket/desk.ts';
import { ticketFloor } from '../../../lib/router/ticket/floor.ts';
import { openTicket } from '../../../lib/router/ticket/open.ts';
import { ticketOutlet } from '../../../lib/router/ticket/outlet.ts';
import { answerTicket, retryTicket } from '../../../lib/router/ticket/people.ts';
import { notifyPolicyChange } from '../../../lib/router/ticket/policy-notice.ts';
import { readSlots } from '../../../lib/router/ticket/rows.ts';
import { readTicket, type Ticket } from '../../../lib/router/ticket/ticket.ts';
import { workerToolkit } from '../../../lib/router/ticket/tools/all.ts';
import type { Tool } from '../../../lib/tools/tool.ts';
import { allTools } from '../../../lib/tools/toolkit.ts';
import { makeFakeClock } from '../../support/fake-clock.ts';
import { makeMemoryBlobs } from '../../support/memory-blobs.ts';
import { makeMemoryLog, makeMemoryMetrics } from '../../support/memory-log.ts';
import { makeMemoryQueue } from '../../support/memory-queue.ts';
import { makeMemoryTable } from '../../support/memory-table.ts';
import { ORG, organisationItem, POLICY, sourceItem } from '../support/team.ts';
import { makePorts, PortFailure, type Strike } from './ports.ts';

export type Calls = readonly (readonly [tool: string, args: { readonly [name: string]: unknown }])[];
/** What a worker's model calls next, by what it has been shown. */
export type Worker = (request: ModelRequest, seen: { readonly ticket: string; readonly turn: number }) => Calls;

/** The words of the newest message that a request shows. */
export const newest = ({ messages }: ModelRequest): string =>
  messages.findLast((message) => message.role === 'user')?.content ?? '';

const ticketIn = ({ messages }: ModelRequest): string => /tkt_\w+/.exec(messages[0]?.content ?? '')?.[0] ?? '';

export interface ShopOptions {
  readonly policy?: Partial<Policy>;
  readonly strike?: Strike;
  readonly tools?: readonly Tool[];
  /** Looks at all rows after each call of the ports. */
  readonly watch?: (rows: readonly Item[]) => void;
  /** What the model throws is a crash of the step. */
  readonly crashes?: boolean;
  /** Calls of the ports take their time, by this chance. */
  readonly random?: () => number;
}

export const makeShop = async (
  worker: Worker,
  { policy = {}, strike, tools = [], random, watch, crashes = false }: ShopOptions = {},
) => {
  const clock = makeFakeClock();
  const memory = makeMemoryTable(clock.now);
  const steps = makeMemoryQueue<StepMessage>();
  const effects = makeMemoryQueue<EffectMessage>();
  const postings = makeMemoryQueue<PostingMessage>();
  const assess = makeMemoryQueue<{ orgId: string; threadId: string }>();
  const ports = makePorts({ memory, steps, effects, postings }, strike, random, () => watch?.(memory.dump()));
  const log = makeMemoryLog();
  let chance = 0;
  const ids = makeIds((bytes) => {
    const noise = new Uint8Array(bytes);
    new DataView(noise.buffer).setUint32(bytes - 4, ++chance);
    return noise;
  });
  const requests: ModelRequest[] = [];
  const told: Effect[] = [];
  const deps: TicketDeps = {
    ...ports,
    clock,
    ids,
    log,
    metrics: makeMemoryMetrics(),
    upper: together([attentionFloor, ticketFloor({ effects: ports.effects, log })]),
    resolveModel: async (_org, model) => ({
      account: { baseUrl: 'http://model', apiKey: 'k', trusted: true },
      model: model ?? 'worker',
      price: { inputUsdPerM: 1, cachedUsdPerM: 1, outputUsdPerM: 1, contextTokens: 100_000 },
    }),
  };
  const desk = makeDesk(deps);
  const threads: ThreadDeps = {
    table: ports.table,
    clock,
    ids,
    log,
    assess,
    desk,
    names: (text) => namesHandle(text, 'baton'),
  };
  const noFiles = (): never => {
    throw new Error('The workers of these tests use no files.');
  };
  const turns = new Map<string, number>();
  const stepDeps: StepDeps = {
    ...deps,
    blobs: makeMemoryBlobs(),
    memory: makeRowMemory(),
    models: {
      complete: async (request) => {
        ports.alive();
        requests.push(request);
        const ticket = ticketIn(request);
        const turn = (turns.get(ticket) ?? 0) + 1;
        turns.set(ticket, turn);
        const calls = worker(request, { ticket, turn });
        return {
          kind: 'reply',
          content: '',
          toolCalls: calls.map(([name, args], index) => ({
            id: `call_${turn}_${index}`,
            name,
            arguments: JSON.stringify(args),
          })),
          finishReason: 'tool_calls',
          refused: false,
          usage: { input: 100, output: 20, cached: 0 },
        };
      },
    },
    tools: new Map([...allTools, ...workerToolkit(deps), ...tools].map((tool) => [tool.name, tool] as const)),
    filesOf: () => ({ write: noFiles, append: noFiles, read: noFiles, delete: noFiles, list: noFiles }),
    fetch: { fetch: () => Promise.reject(new Error('The workers of these tests use no network.')) },
    newOwner: () => `owner-${++chance}`,
    random: () => 0,
    settings: { leaseMs: 30_000, stepDelaySeconds: 2, maxWaitMs: 3_600_000 },
  };
  const effectDeps: EffectDeps = {
    ...deps,
    outlets: {
      bus: async () => undefined,
      webhook: async (effect) => void told.push(effect),
      child: async () => undefined,
      ticket: ticketOutlet(() => deps),
    },
  };

  let version = 0;
  const savePolicy = async (next: Partial<Policy>): Promise<void> => {
    version++;
    const at = new Date(clock.now()).toISOString();
    await memory.put(versionItem(ORG, { version, policy: { ...POLICY, ...next }, at, by: 'key_1' }));
    await memory.put(headItem(ORG, version));
  };
  await memory.put(sourceItem());
  await memory.put(organisationItem());
  await savePolicy(policy);

  /** One invocation; a failure of the platform is answered by another one, as a queue or a client does. */
  const invoke = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      ports.begin();
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof PortFailure) || attempt === 5) throw error;
      }
    }
  };
  const delivery = () => ({ messageId: `m-${++chance}`, receiptHandle: `r-${chance}`, receiveCount: 1 });
  const step = async (message: StepMessage): Promise<void> => {
    ports.begin();
    try {
      await processStep(stepDeps, message, delivery(), () => 840_000);
    } catch (error) {
      const known = error instanceof NotYet || error instanceof PortFailure || crashes;
      if (!known) throw error;
      // The message comes back when the lease has ended.
      await clock.advance(31_000);
      await steps.send(message, { delaySeconds: 0, tenant: ORG });
    }
  };
  const effect = async (message: EffectMessage): Promise<void> => {
    ports.begin();
    try {
      await deliverEffect(effectDeps, message);
    } catch (error) {
      if (!(error instanceof NotYet || error instanceof PortFailure)) throw error;
      await effects.send(message, { delaySeconds: 0, tenant: ORG });
    }
  };
  /** Delivers what is under way, and what comes of it, so many times at most. @returns true when nothing is left */
  const rounds = async (most: number): Promise<boolean> => {
    for (let round = 0; round < most; round++) {
      const [moves, signals] = [steps.take(), effects.take()];
      if (moves.length + signals.length === 0) return true;
      for (const { message } of signals) await effect(message);
      for (const { message } of moves) await step(message);
      await clock.advance(2_000);
    }
    return false;
  };
  /** Delivers until nothing is under way. */
  const drain = async (): Promise<void> => {
    if (!(await rounds(300))) throw new Error('It does not come to rest.');
  };
  /** What the sweep makes good when messages were lost. */
  const heal = async (): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      await clock.advance(1_200_000);
      await invoke(() =>
        eachDue(deps, 'sweep', clock.now(), async (found) => {
          if (parseEffectPk(found.pk) !== undefined) await sweepEffect(deps, found);
          else if (parseExecutionPk(found.pk) !== undefined) await sweepExecution(deps, found);
        }),
      );
      await drain();
    }
  };

  const accept = async (
    { threadId, triggerId }: StoredTrigger,
    scope: Partial<MandateScope> = {},
    more: readonly Write[] = [],
  ): Promise<string> => {
    const ticketId = await invoke(async () => {
      const thread = await findThread(ports.table, ORG, threadId);
      const trigger = await findTrigger(ports.table, ORG, threadId, triggerId);
      if (thread === undefined || trigger === undefined) throw new Error('Nothing is there to accept.');
      if (trigger.state === 'decided') return trigger.decision?.ticketId ?? '';
      const planned = await desk.accept({
        thread,
        trigger,
        policy: await loadPolicy(ports.table, ORG),
        title: trigger.text.slice(0, 40),
        mandate: { verb: 'comment', repositoryId: '4711', ...scope },
        grantedBy: `${trigger.sourceId}:${trigger.actor.id}`,
      });
      const decision = { decision: 'accept' as const, reason: 'asked', policyVersion: 1, at: clock.now() };
      const decided = { ...trigger, state: 'decided' as const, decision: { ...decision, ticketId: planned.ticketId } };
      await planned.start([
        ...more,
        { put: triggerItem(decided), if: eq('state', 'pending') },
        { delete: keys.pendingTrigger(ORG, threadId, triggerId) },
        subscriptionWrite(thread, [...thread.tickets, planned.ticketId], clock.now()),
      ]);
      return planned.ticketId;
    });
    return ticketId;
  };

  const rows = (test: RegExp) => memory.dump().filter(({ sk }) => test.test(sk));
  const get = <T>(item: T | undefined): T => {
    if (item === undefined) throw new Error('It is not there.');
    return item;
  };
  return {
    deps,
    desk,
    memory,
    clock,
    ports,
    queues: { steps, effects, postings, assess },
    requests,
    told,
    savePolicy,
    invoke,
    drain,
    rounds,
    step,
    heal,
    effect,
    accept,
    /** A comment is stored; where a ticket subscribes it has gone there, else the test decides about it. */
    hear: (event: NewEvent): Promise<StoredTrigger> => invoke(() => storeTrigger(threads, ORG, event)),
    threads,
    /** A comment that opens a ticket, and all that follows. */
    async open(event: NewEvent, scope: Partial<MandateScope> = {}): Promise<string> {
      const ticketId = await accept(await this.hear(event), scope);
      await drain();
      return ticketId;
    },
    async say(event: NewEvent): Promise<StoredTrigger> {
      const stored = await this.hear(event);
      await drain();
      return stored;
    },
    tickets: (): readonly Ticket[] => rows(/^TICKET$/).map(readTicket),
    ticket: (id: string): Ticket =>
      get(
        rows(/^TICKET$/)
          .map(readTicket)
          .find((ticket) => ticket.id === id),
      ),
    executions: (): readonly Execution[] => rows(/^EXEC$/).map(readExecution),
    run(ticketId: string): Execution {
      const id = this.ticket(ticketId).executionIds.at(-1);
      return get(this.executions().find(({ executionId }) => executionId === id));
    },
    inputs: (executionId: string) =>
      rows(/^INPUT#/)
        .filter(({ pk }) => pk.endsWith(executionId))
        .map(readInput),
    slots: () => readSlots(memory, ORG),
    attention: () => rows(/^att_/).map(readAttention),
    postings: () => rows(/^POSTING$/).map(readPosting),
    rows,
    /** A decision of an Eval, as it commits one; a repeat finds it decided. */
    async joinOnce({ threadId, triggerId }: StoredTrigger, ticketId: string): Promise<void> {
      const thread = get(await findThread(memory, ORG, threadId));
      const trigger = get(await findTrigger(memory, ORG, threadId, triggerId));
      if (trigger.state !== 'pending') return;
      const planned = get(await desk.join({ thread, trigger, ticket: this.ticket(ticketId) }));
      const decided = { ...trigger, state: 'decided' as const, tickets: [ticketId] };
      await ports.table.transact([
        ...planned.writes,
        { put: triggerItem(decided), if: eq('state', 'pending') },
        subscriptionWrite(thread, [...thread.tickets, ticketId], clock.now()),
      ]);
      await planned.wake();
    },
    acceptWith: (stored: StoredTrigger, more: readonly Write[]): Promise<string> => accept(stored, {}, more),
    join(stored: StoredTrigger, ticketId: string): Promise<void> {
      return this.joinOnce(stored, ticketId);
    },
    openOverHttp: (title: string, text: string) =>
      openTicket(deps, {
        orgId: ORG,
        actor: 'key_1',
        title,
        text,
        mandate: { verb: 'comment' },
        policyVersion: 1,
        alongside: () => [],
      }),
    answer: (ticketId: string, content: string): Promise<Ticket> =>
      invoke(() => answerTicket(deps, { orgId: ORG, ticketId }, content, { actor: 'key_1', key: `${++chance}` })),
    retry: (ticketId: string): Promise<Ticket> =>
      invoke(() => retryTicket(deps, { orgId: ORG, ticketId }, { actor: 'key_1', key: `${++chance}` })),
    /** A person decides about every open permission. */
    async decide(approve: boolean): Promise<void> {
      for (const ask of rows(/^ASK#/).map(readAsk)) {
        if (ask.state !== 'pending') continue;
        await decidePermission(deps, { orgId: ORG, permissionId: ask.askId, approve, actor: 'key_1' });
      }
      await drain();
    },
    /** Changes the source's row. */
    async source(changes: { readonly [name: string]: Value }): Promise<void> {
      await memory.put({ ...sourceItem(), ...changes });
    },
    /** As a save of a policy tells it. */
    async tellPolicy(to: number): Promise<void> {
      const notice = notifyPolicyChange(deps)({ orgId: ORG, version: to, at: clock.now() });
      await memory.transact(notice.writes);
      await notice.wake();
      for (const { message } of effects.take()) await effect(message);
    },
  };
};

export type Shop = Awaited<ReturnType<typeof makeShop>>;
