/** A team in memory: one source, a policy, Threads, and a model that says what the test tells it to. */

import { makeIds } from '../../../lib/kernel/ids.ts';
import { keys } from '../../../lib/kernel/keys.ts';
import type { Table } from '../../../lib/kernel/table.ts';
import type { ModelOutcome, ModelRequest } from '../../../lib/model/model.ts';
import { assessThread } from '../../../lib/router/assess/assess.ts';
import type { AssessDeps } from '../../../lib/router/assess/deps.ts';
import { namesHandle } from '../../../lib/router/gate/mentions.ts';
import type { AssessMessage } from '../../../lib/router/message.ts';
import { NEW_POLICY, type Policy } from '../../../lib/router/policy/policy.ts';
import { headItem, versionItem } from '../../../lib/router/policy/policy-row.ts';
import type { Desk } from '../../../lib/router/thread/desk.ts';
import { readDecision } from '../../../lib/router/thread/rows.ts';
import type { NewEvent } from '../../../lib/router/thread/store.ts';
import { readThread } from '../../../lib/router/thread/thread.ts';
import { readTrigger, type Trigger } from '../../../lib/router/thread/trigger.ts';
import { readTicket } from '../../../lib/router/ticket/ticket.ts';
import { makeRow } from '../../../lib/tenancy/row.ts';
import { type FakeClock, makeFakeClock } from '../../support/fake-clock.ts';
import { makeMemoryLog } from '../../support/memory-log.ts';
import { type MemoryQueue, makeMemoryQueue } from '../../support/memory-queue.ts';
import { type MemoryTable, makeMemoryTable } from '../../support/memory-table.ts';
import { makeDesk } from './desk.ts';

export const ORG = 'org_1';
export const SOURCE = 'src_1';
/** The listed person, somebody else, ourselves. */
export const ADA = '7';
export const STRANGER = '8';
export const SELF = '99';
export const REPOSITORY = '4711';

export const POLICY: Policy = {
  ...NEW_POLICY,
  mode: 'auto',
  allow: [{ sourceId: SOURCE, actorId: ADA }],
  admission: [
    { sourceId: SOURCE, scope: 'issue_comment', ceiling: 'explicit' },
    { sourceId: SOURCE, scope: 'status', ceiling: 'inferred' },
  ],
  grants: [{ sourceId: SOURCE, scope: 'issue_comment', actorId: ADA, maxVerb: 'pr' }],
  rules: [{ id: 'bugs', text: 'Take up bugs that can be reproduced.' }],
};

/** Where a comment came from and what it says; every one is an object of its own unless it is given a number. */
export interface Said {
  readonly number?: number;
  readonly actor?: string;
  readonly type?: Trigger['actor']['type'];
  readonly authorId?: string;
  readonly scope?: string;
  readonly issue?: number;
  readonly aliases?: readonly string[];
  readonly edited?: boolean;
  /** Seconds after the beginning. */
  readonly at?: number;
}

const BEGINNING = Date.UTC(2026, 0, 1);
let numbers = 0;

export const said = (text: string, how: Said = {}): NewEvent => {
  const { number = ++numbers, actor = ADA, type = 'user', scope = 'issue_comment', issue = 1 } = how;
  const replyTo = { thread: `${REPOSITORY}/issues/${issue}` };
  return {
    thread: {
      key: `gh:${REPOSITORY}:issue:${issue}`,
      title: `Issue ${issue}`,
      replyTo,
      repositoryId: REPOSITORY,
      ...(how.aliases !== undefined && { aliases: how.aliases }),
    },
    trigger: {
      objectId: `issue_comment/${number}`,
      sourceId: SOURCE,
      scope,
      kind: 'comment',
      actor: { id: actor, type },
      ...(how.authorId !== undefined && { authorId: how.authorId }),
      text,
      replyTo,
      repositoryId: REPOSITORY,
      deliveryId: `dlv_${number}`,
      occurredAt: BEGINNING + (how.at ?? number) * 1_000,
    },
    edited: how.edited ?? false,
  };
};

export const sourceItem = () =>
  makeRow(keys.source(ORG, SOURCE), {
    id: SOURCE,
    orgId: ORG,
    kind: 'github',
    name: 'repository',
    state: 'active',
    self: { id: SELF, login: 'baton[bot]' },
    signsInBy: 'app',
    secretRef: 'x',
    createdAt: new Date(BEGINNING).toISOString(),
    updatedAt: new Date(BEGINNING).toISOString(),
  });

export const organisationItem = () =>
  makeRow(keys.organisation(ORG), {
    id: ORG,
    name: 'o',
    createdAt: new Date(BEGINNING).toISOString(),
    defaultProjectId: 'prj_1',
  });

export type Script = (request: ModelRequest, call: number) => ModelOutcome | Promise<ModelOutcome>;

export const reply = (content: string, more: Partial<Extract<ModelOutcome, { kind: 'reply' }>> = {}): ModelOutcome => ({
  kind: 'reply',
  content,
  toolCalls: [],
  finishReason: 'stop',
  refused: false,
  usage: { input: 100, output: 20, cached: 0 },
  ...more,
});

/** Ids of the Triggers that a page asks about, in its order. */
export const asked = ({ messages }: ModelRequest): readonly string[] =>
  [...(messages[1]?.content ?? '').matchAll(/^DECIDE (trg_\w+)/gm)].map(([, id = '']) => id);

type Decide = (id: string, index: number) => { readonly [member: string]: unknown } | undefined;

/** The same decision about everything that is asked. */
export const decideAll =
  (decide: Decide): Script =>
  (request) =>
    reply(
      JSON.stringify({
        decisions: asked(request).flatMap((triggerId, index) => {
          const decision = decide(triggerId, index);
          return decision === undefined ? [] : [{ triggerId, reason: 'because', ...decision }];
        }),
      }),
    );

export interface Team {
  readonly table: MemoryTable;
  readonly clock: FakeClock;
  readonly queue: MemoryQueue<AssessMessage>;
  readonly deps: AssessDeps;
  readonly requests: ModelRequest[];
  policy(policy: Policy): Promise<void>;
  /** Delivers what is in the queue until it is empty. */
  assess(): Promise<void>;
  triggers(): readonly Trigger[];
  trigger(id: string): Trigger;
  thread(): ReturnType<typeof readThread>;
  tickets(): readonly ReturnType<typeof readTicket>[];
  decisions(): readonly ReturnType<typeof readDecision>[];
}

/** The names of ports that a test wants to stand between. */
export interface Between {
  readonly table?: (table: Table) => Table;
  /** The real room of tickets instead of a stand-in for it. */
  readonly desk?: (given: Pick<AssessDeps, 'table' | 'clock' | 'ids' | 'log'>) => Desk;
}

export const makeTeam = async (script: Script, between: Between = {}): Promise<Team> => {
  const clock = makeFakeClock();
  const memory = makeMemoryTable(clock.now);
  const table = between.table?.(memory) ?? memory;
  const queue = makeMemoryQueue<AssessMessage>();
  const requests: ModelRequest[] = [];
  let chance = 0;
  let versions = 0;
  const random = (bytes: number): Uint8Array => {
    const noise = new Uint8Array(bytes);
    new DataView(noise.buffer).setUint32(bytes - 4, ++chance);
    return noise;
  };
  const given = { table, clock, ids: makeIds(random), log: makeMemoryLog() };
  const deps: AssessDeps = {
    ...given,
    assess: queue,
    desk: between.desk?.(given) ?? makeDesk(table),
    names: (text) => namesHandle(text, 'baton'),
    models: {
      complete: async (request) => {
        requests.push(request);
        return script(request, requests.length);
      },
    },
    resolveModel: async (_org, model) => ({
      account: { baseUrl: 'http://model', apiKey: 'k', trusted: true },
      model: model ?? 'assessor',
      price: { inputUsdPerM: 1, cachedUsdPerM: 1, outputUsdPerM: 1, contextTokens: 100_000 },
    }),
    newOwner: () => `owner-${++chance}`,
    newMark: () => `mark${++chance}`,
    settings: { leaseMs: 30_000 },
  };
  const policy = async (next: Policy): Promise<void> => {
    versions++;
    await memory.put(
      versionItem(ORG, { version: versions, policy: next, at: new Date(clock.now()).toISOString(), by: 'key_1' }),
    );
    await memory.put(headItem(ORG, versions));
  };
  await memory.put(sourceItem());
  await memory.put(organisationItem());
  await policy(POLICY);
  const rows = (test: RegExp) => memory.dump().filter(({ sk }) => test.test(sk));
  const triggers = () => rows(/^TRIGGER#/).map(readTrigger);
  let delivered = 0;
  return {
    table: memory,
    clock,
    queue,
    deps,
    requests,
    policy,
    async assess() {
      for (let [next] = queue.take(); next !== undefined; [next] = queue.take()) {
        const messageId = `m${++delivered}`;
        await assessThread(deps, next.message, { messageId, receiptHandle: messageId, receiveCount: 1 }, () => 300_000);
      }
    },
    triggers,
    trigger(id) {
      const found = triggers().find((trigger) => trigger.id === id);
      if (found === undefined) throw new Error(`There is no ${id}.`);
      return found;
    },
    thread() {
      const [item] = rows(/^THREAD$/);
      if (item === undefined) throw new Error('There is no Thread.');
      return readThread(item);
    },
    tickets: () => rows(/^TICKET$/).map(readTicket),
    decisions: () => rows(/^dec_/).map(readDecision),
  };
};
