/** One good row of each kind, as its writer makes it, and its reader. */
import { agentItem, configItem, readAgent, readConfig } from '../../../lib/agent/agent.ts';
import { openAttention, readAttention } from '../../../lib/attention/attention.ts';
import { effectItem, readEffect } from '../../../lib/effect/effect.ts';
import { readExecution } from '../../../lib/execution/execution.ts';
import { feedItem, readFeedRow } from '../../../lib/execution/feed.ts';
import { stallMark } from '../../../lib/execution/mark.ts';
import { newExecutionItem } from '../../../lib/execution/new-execution.ts';
import {
  askItem,
  inputItem,
  pinnedItem,
  readAsk,
  readInput,
  readPinned,
  readStarted,
  startedItem,
} from '../../../lib/execution/rows.ts';
import type { Item, Value } from '../../../lib/kernel/table.ts';
import { fileItem, parseFileRow } from '../../../lib/resource/file-row.ts';
import { readOrganisation } from '../../../lib/tenancy/organisation.ts';
import { AGENT, NOW, ORG } from './engine.ts';

export const EXECUTION = 'exe_00000000000000000000000000';
const AT = new Date(NOW).toISOString();
const PROJECT = 'prj_00000000000000000000000000';

export interface Kind {
  readonly name: string;
  readonly read: (item: Item) => object;
  readonly item: Item;
  /** Attributes that do not come back under their own name; `*`: none of them does. */
  readonly apart?: readonly string[];
}

const bought = {
  buyer: 'owner',
  model: 'm',
  tokensIn: 10,
  tokensOut: 5,
  tokensCached: 1,
  cost: 15,
  finish: 'stop',
  attempt: 1,
  sentFrom: 0,
  sentSummary: 3,
  promptHash: 'abc',
  claimedAt: NOW,
  askedAt: NOW,
};
const at = { seq: 4, at: NOW };

const opened = openAttention({
  orgId: ORG,
  kind: 'budget',
  subject: { type: 'execution', id: EXECUTION },
  executionId: EXECUTION,
  at: NOW,
  question: 'q',
  url: '/v1/executions/1',
  actions: [{ label: 'Raise', method: 'PATCH', path: '/v1/executions/1', body: { maxCostUsd: 2 } }],
  until: NOW + 1_000,
});
const attentionRow: Item = 'put' in opened ? opened.put : { pk: '', sk: '' };

export const executionRow = newExecutionItem(
  {
    executionId: EXECUTION,
    orgId: ORG,
    agentId: AGENT,
    projectId: PROJECT,
    name: 'run',
    stepId: 'goal/think',
    limits: { maxIterations: 25, maxSteps: 1_000, maxTokens: 1_000_000, maxCost: 5_000_000, maxSeconds: 86_400 },
    worst: 100,
    priceUnknown: false,
    windowTokens: 5,
  },
  NOW,
  stallMark(EXECUTION, NOW),
);

export const pinnedRow = pinnedItem(ORG, EXECUTION, {
  goals: ['g'],
  instructions: [],
  constraints: ['c'],
  tools: ['think'],
  model: 'm',
  temperature: 1,
  userTimezone: 'UTC',
  maxReplyTokens: 4_096,
  contextTokens: 24_000,
  repeatLimit: 5,
  stepDelaySeconds: 2,
  permissionType: 'GOD_MODE',
  permissionTools: [],
  config: { goals: ['g'], constraints: ['c'], custom: { a: 1 } },
});

const feed = (row: Parameters<typeof feedItem>[2]): Item => feedItem(ORG, EXECUTION, row);
const call = { id: 'c', name: 'think', arguments: '{}' };

export const KINDS: readonly Kind[] = [
  { name: 'execution', read: readExecution, item: executionRow, apart: ['*'] },
  {
    name: 'pinned configuration',
    read: readPinned,
    item: pinnedRow,
    apart: ['json', 'goals', 'instructions', 'constraints'],
  },
  {
    name: 'user message',
    read: readFeedRow,
    apart: ['*'],
    item: feed({ ...at, n: 0, kind: 'user', content: 'hello', origin: 'key' }),
  },
  {
    name: 'note',
    read: readFeedRow,
    apart: ['*'],
    item: feed({ ...at, n: 101, kind: 'note', content: 'empty', code: 'empty_reply' }),
  },
  {
    name: 'reply',
    read: readFeedRow,
    apart: ['*'],
    item: feed({
      ...at,
      ...bought,
      n: 100,
      kind: 'reply',
      content: 'r',
      calls: [call],
      refused: false,
      blob: 'b',
      inputs: 1,
      waking: 1,
    }),
  },
  {
    name: 'step of a workflow',
    read: readFeedRow,
    apart: ['*'],
    item: feed({
      ...at,
      n: 100,
      kind: 'step',
      content: 'Task 1 of 2.',
      place: 'mine/tasks:next',
      label: 'default',
      inputs: 1,
      attempt: 1,
      claimedAt: NOW,
    }),
  },
  {
    name: 'summary',
    read: readFeedRow,
    apart: ['*'],
    item: feed({ ...at, ...bought, n: 100, kind: 'summary', content: 's', upTo: 3, windowTokens: 9 }),
  },
  {
    name: 'outcome',
    read: readFeedRow,
    apart: ['*'],
    item: feed({
      ...at,
      n: 101,
      kind: 'tool',
      callId: 'c',
      name: 'think',
      outcome: 'ok',
      content: 'o',
      blob: 'b',
      startedAt: NOW,
    }),
  },
  {
    name: 'input',
    read: readInput,
    item: inputItem(ORG, EXECUTION, {
      number: 1,
      waking: 1,
      kind: 'message',
      origin: 'key',
      trust: 'explicit',
      wake: true,
      dedupeKey: 'd',
      replyTo: 'r',
      text: 't',
      answers: 'a',
      at: NOW,
    }),
  },
  {
    name: 'question',
    read: readAsk,
    item: askItem({
      askId: 'ask_1',
      kind: 'permission',
      orgId: ORG,
      executionId: EXECUTION,
      seq: 4,
      n: 101,
      state: 'approved',
      tool: 'think',
      arguments: '{}',
      argumentsHash: 'h',
      why: 'w',
      feedback: 'f',
      decidedBy: 'key',
      decidedAt: NOW,
      at: NOW,
    }),
  },
  {
    name: 'attention item',
    read: readAttention,
    item: attentionRow,
  },
  { name: 'started call', read: readStarted, item: startedItem(ORG, EXECUTION, 4, 101, 'owner', NOW) },
  {
    name: 'effect',
    read: readEffect,
    item: effectItem({
      effectId: 'eff_1',
      orgId: ORG,
      kind: 'bus',
      detailType: 'Execution Status Changed',
      detail: '{"a":1}',
      at: NOW,
    }),
  },
  {
    name: 'agent',
    read: readAgent,
    item: agentItem({
      id: AGENT,
      orgId: ORG,
      projectId: PROJECT,
      name: 'a',
      description: 'd',
      workflow: 'goal',
      createdAt: AT,
      createdBy: 'key',
      updatedAt: AT,
    }),
  },
  { name: 'configuration key', read: readConfig, item: configItem(ORG, AGENT, 'goals', ['g'], AT), apart: ['json'] },
  {
    name: 'organisation',
    read: readOrganisation,
    item: {
      pk: `ORG#${ORG}`,
      sk: 'META',
      v: 1,
      id: ORG,
      name: 'o',
      createdAt: AT,
      defaultProjectId: PROJECT,
      defaultProvider: 'p',
      revocations: 1,
      stopped: { at: AT, by: 'key' },
    },
  },
  {
    name: 'file',
    read: parseFileRow,
    item: fileItem(ORG, EXECUTION, {
      v: 1,
      path: 'a.txt',
      bytes: 3,
      seq: 1,
      n: 101,
      blobKey: 'k',
      updatedAt: AT,
      deleted: false,
      existed: true,
    }),
  },
];

/** The attributes that a damage may strike: all but the keys, which are where the row is found. */
export const attributesOf = (item: Item): string[] =>
  Object.keys(item).filter((name) => name !== 'pk' && name !== 'sk');

export const without = (item: Item, name: string): Item => {
  const { [name]: _, ...rest } = item as { [attribute: string]: Value };
  return rest as Item;
};
