/**
 * Every key of the single table, on one page. A tenant's key begins with `ORG#<organisationId>`; the exceptions hold ids
 * only: API-key hash → organisation, and the shards of the `due` index.
 *
 * | item | pk | sk |
 * |---|---|---|
 * | organisation | ORG#o | META |
 * | project, provider, key (listing side) | ORG#o | PROJECT#p, PROVIDER#name, APIKEY#k |
 * | idempotency record (TTL) | ORG#o#IDEMPOTENCY | sha256 of route and key |
 * | api key (lookup side) | KEY#<sha256 of the key> | KEY |
 * | agent, its configuration | ORG#o#AGENT#a | AGENT, CONFIG#<key> |
 * | agent's executions (pointer) | ORG#o#AGENT#a | EXECUTION#<e> |
 * | execution | ORG#o#EXEC#e | EXEC |
 * | pinned configuration | ORG#o#EXEC#e | PINNED |
 * | feed | ORG#o#EXEC#e | FEED#<seq>#<n> |
 * | started call, input, question, input dedupe | ORG#o#EXEC#e | STARTED#<seq>#<n>, INPUT#<number>, ASK#<seq>#<n>, DEDUPE#<key> |
 * | wait of a call or of a workflow's step | ORG#o#EXEC#e | WAIT#<seq>#<n> |
 * | run that a call started | ORG#o#EXEC#e | CHILD#<seq>#<n> |
 * | file | ORG#o#EXEC#e | FILE#<path> |
 * | task of a workflow, finished task | ORG#o#EXEC#e | TASK#<generation>#<index>, TASKDONE#<seq> |
 * | question of a call that needs leave too | ORG#o#EXEC#e | ASK#<seq>#<n>#QUESTION |
 * | effect | ORG#o#EFFECT#f | EFFECT |
 * | template of an agent | ORG#o | TEMPLATE#tpl |
 * | workflow (newest version's number), its name, its versions | ORG#o; ORG#o#WORKFLOW#w | WORKFLOW#<w>, WORKFLOWNAME#<name>; VERSION#<version> |
 * | webhook endpoint | ORG#o | WEBHOOK#w |
 * | its gate, deliveries, what the gate holds back | ORG#o#WEBHOOK#w | GATE, DELIVERY#d, HELD#d |
 * | schedule | ORG#o#SCHEDULE#s | SCHEDULE |
 * | what a run has rolled up into the usage rows | ORG#o#EXEC#e | ROLLED |
 * | usage of a day | ORG#o#USAGE | <day>#<a>#<p or none>#<shard> |
 * | daily budget: what was given out | ORG#o | BUDGET#<day> |
 * | whole number of an id (SuperAGI's API): the last one given, both directions | ORG#o#NUMBER | LAST#<kind>, OF#<id>, <kind>#<number> |
 * | schedule that SuperAGI's API gave an agent | ORG#o#AGENT#a | SCHEDULE |
 * | audit (TTL) | ORG#o#AUDIT | aud_<time><chance> |
 * | what waits for a person | ORG#o#ATTENTION | att_<time><hash of the cause> |
 * | source; where ingest finds its organisation | ORG#o; SOURCE#s | SOURCE#<s>; SOURCE |
 * | its deliveries, those that are known (TTL), refused ones by hour (TTL), other keys of a Thread | ORG#o#SOURCE#s | DELIVERY#d, SEEN#<sha256>, REFUSED#<hour>, ALIAS#<key> |
 * | policy, its versions | ORG#o; ORG#o#POLICY | POLICY; VERSION#<version> |
 * | Thread; its Triggers, those that wait for an Eval, who subscribes, what the model said in an Eval | ORG#o#THREAD#t | THREAD; TRIGGER#trg, PENDING#trg, SUBSCRIPTION#tkt, EVAL#<epoch>#<round> |
 * | decision | ORG#o#DECISION | dec_<time><chance> |
 * | ticket; its reports, its digest, what was done for it once (TTL) | ORG#o#TICKET#k | TICKET; REPORT#<n>, DIGEST, DONE#<sha256> |
 * | who works: the slots | ORG#o | SLOTS |
 * | posting (a reply, a document) | ORG#o#POSTING#f | POSTING |
 */
import { org, padded } from './key-parts.ts';
import { routerKeys } from './router-keys.ts';
import type { Key } from './table.ts';

const agentPk = (orgId: string, agentId: string): string => `${org(orgId)}#AGENT#${agentId}`;
const executionPk = (orgId: string, executionId: string): string => `${org(orgId)}#EXEC#${executionId}`;
const numberPk = (orgId: string): string => `${org(orgId)}#NUMBER`;
const webhookPk = (orgId: string, webhookId: string): string => `${org(orgId)}#WEBHOOK#${webhookId}`;

/** Above every character that can follow a prefix in a sort key. */
export const LAST = '\uffff';

export const keys = {
  organisation: (orgId: string): Key => ({ pk: org(orgId), sk: 'META' }),
  project: (orgId: string, projectId: string): Key => ({ pk: org(orgId), sk: `PROJECT#${projectId}` }),
  projects: (orgId: string) => ({ pk: org(orgId), prefix: 'PROJECT#' }),
  provider: (orgId: string, name: string): Key => ({ pk: org(orgId), sk: `PROVIDER#${name}` }),
  providers: (orgId: string) => ({ pk: org(orgId), prefix: 'PROVIDER#' }),
  apiKey: (orgId: string, keyId: string): Key => ({ pk: org(orgId), sk: `APIKEY#${keyId}` }),
  apiKeys: (orgId: string) => ({ pk: org(orgId), prefix: 'APIKEY#' }),
  apiKeyLookup: (sha256: string): Key => ({ pk: `KEY#${sha256}`, sk: 'KEY' }),
  idempotency: (orgId: string, sha256: string): Key => ({ pk: `${org(orgId)}#IDEMPOTENCY`, sk: sha256 }),

  agent: (orgId: string, agentId: string): Key => ({ pk: agentPk(orgId, agentId), sk: 'AGENT' }),
  agentConfig: (orgId: string, agentId: string, key: string): Key => ({
    pk: agentPk(orgId, agentId),
    sk: `CONFIG#${key}`,
  }),
  /** The badge and the folder in one Query: AGENT sorts before CONFIG#…; the pointers (EXECUTION#…) sort after. */
  agentWithConfig: (orgId: string, agentId: string) => ({
    pk: agentPk(orgId, agentId),
    from: 'AGENT',
    to: `CONFIG#${LAST}`,
  }),
  agentExecution: (orgId: string, agentId: string, executionId: string): Key => ({
    pk: agentPk(orgId, agentId),
    sk: `EXECUTION#${executionId}`,
  }),
  agentExecutions: (orgId: string, agentId: string) => ({ pk: agentPk(orgId, agentId), prefix: 'EXECUTION#' }),

  execution: (orgId: string, executionId: string): Key => ({ pk: executionPk(orgId, executionId), sk: 'EXEC' }),
  pinned: (orgId: string, executionId: string): Key => ({ pk: executionPk(orgId, executionId), sk: 'PINNED' }),
  feed: (orgId: string, executionId: string, seq: number, n: number): Key => ({
    pk: executionPk(orgId, executionId),
    sk: `FEED#${padded(seq, 9)}#${padded(n, 4)}`,
  }),
  /** All feed rows of the steps `fromSeq` to `toSeq`, both inclusive. */
  feedRange: (orgId: string, executionId: string, fromSeq: number, toSeq: number) => ({
    pk: executionPk(orgId, executionId),
    from: `FEED#${padded(fromSeq, 9)}#`,
    to: `FEED#${padded(toSeq, 9)}#${LAST}`,
  }),
  started: (orgId: string, executionId: string, seq: number, n: number): Key => ({
    pk: executionPk(orgId, executionId),
    sk: `STARTED#${padded(seq, 9)}#${padded(n, 4)}`,
  }),
  startedOf: (orgId: string, executionId: string, seq: number) => ({
    pk: executionPk(orgId, executionId),
    prefix: `STARTED#${padded(seq, 9)}#`,
  }),
  ask: (orgId: string, executionId: string, seq: number, n: number): Key => ({
    pk: executionPk(orgId, executionId),
    sk: `ASK#${padded(seq, 9)}#${padded(n, 4)}`,
  }),
  /** Beside the permission of the same call, which it must not overwrite. */
  question: (orgId: string, executionId: string, seq: number, n: number): Key => ({
    pk: executionPk(orgId, executionId),
    sk: `ASK#${padded(seq, 9)}#${padded(n, 4)}#QUESTION`,
  }),
  asks: (orgId: string, executionId: string) => ({ pk: executionPk(orgId, executionId), prefix: 'ASK#' }),
  asksOf: (orgId: string, executionId: string, seq: number) => ({
    pk: executionPk(orgId, executionId),
    prefix: `ASK#${padded(seq, 9)}#`,
  }),
  wait: (orgId: string, executionId: string, seq: number, n: number): Key => ({
    pk: executionPk(orgId, executionId),
    sk: `WAIT#${padded(seq, 9)}#${padded(n, 4)}`,
  }),
  child: (orgId: string, executionId: string, seq: number, n: number): Key => ({
    pk: executionPk(orgId, executionId),
    sk: `CHILD#${padded(seq, 9)}#${padded(n, 4)}`,
  }),
  children: (orgId: string, executionId: string) => ({ pk: executionPk(orgId, executionId), prefix: 'CHILD#' }),
  childrenOf: (orgId: string, executionId: string, seq: number) => ({
    pk: executionPk(orgId, executionId),
    prefix: `CHILD#${padded(seq, 9)}#`,
  }),
  input: (orgId: string, executionId: string, number: number): Key => ({
    pk: executionPk(orgId, executionId),
    sk: `INPUT#${padded(number, 9)}`,
  }),
  inputsAfter: (orgId: string, executionId: string, number: number) => ({
    pk: executionPk(orgId, executionId),
    from: `INPUT#${padded(number + 1, 9)}`,
    to: `INPUT#${LAST}`,
  }),
  inputDedupe: (orgId: string, executionId: string, key: string): Key => ({
    pk: executionPk(orgId, executionId),
    sk: `DEDUPE#${key}`,
  }),
  file: (orgId: string, executionId: string, path: string): Key => ({
    pk: executionPk(orgId, executionId),
    sk: `FILE#${path}`,
  }),
  task: (orgId: string, executionId: string, generation: number, index: number): Key => ({
    pk: executionPk(orgId, executionId),
    sk: `TASK#${padded(generation, 9)}#${padded(index, 4)}`,
  }),
  /** Tasks of one generation, from index `from` to before `to`. */
  taskRange: (orgId: string, executionId: string, generation: number, from: number, to: number) => ({
    pk: executionPk(orgId, executionId),
    from: `TASK#${padded(generation, 9)}#${padded(from, 4)}`,
    to: `TASK#${padded(generation, 9)}#${padded(to - 1, 4)}`,
  }),
  taskDone: (orgId: string, executionId: string, seq: number): Key => ({
    pk: executionPk(orgId, executionId),
    sk: `TASKDONE#${padded(seq, 9)}`,
  }),
  /** Tasks that were finished by the steps before `seq`. */
  tasksDoneBefore: (orgId: string, executionId: string, seq: number) => ({
    pk: executionPk(orgId, executionId),
    from: 'TASKDONE#',
    to: `TASKDONE#${padded(seq - 1, 9)}`,
  }),
  files: (orgId: string, executionId: string) => ({ pk: executionPk(orgId, executionId), prefix: 'FILE#' }),
  rolled: (orgId: string, executionId: string): Key => ({ pk: executionPk(orgId, executionId), sk: 'ROLLED' }),
  /** `projectId` is `none` where there is none. */
  usage: (orgId: string, day: string, agentId: string, projectId: string, shard: number): Key => ({
    pk: `${org(orgId)}#USAGE`,
    sk: `${day}#${agentId}#${projectId}#${shard}`,
  }),
  /** All usage rows of the days, both inclusive. */
  usageOfDays: (orgId: string, from: string, to: string) => ({
    pk: `${org(orgId)}#USAGE`,
    from: `${from}#`,
    to: `${to}#${LAST}`,
  }),
  budget: (orgId: string, day: string): Key => ({ pk: org(orgId), sk: `BUDGET#${day}` }),
  /** `kind` is the prefix of the ids that it counts. */
  lastNumber: (orgId: string, kind: string): Key => ({ pk: numberPk(orgId), sk: `LAST#${kind}` }),
  numberOf: (orgId: string, id: string): Key => ({ pk: numberPk(orgId), sk: `OF#${id}` }),
  numbered: (orgId: string, kind: string, number: number): Key => ({ pk: numberPk(orgId), sk: `${kind}#${number}` }),
  agentSchedule: (orgId: string, agentId: string): Key => ({ pk: agentPk(orgId, agentId), sk: 'SCHEDULE' }),
  audit: (orgId: string, auditId: string): Key => ({ pk: `${org(orgId)}#AUDIT`, sk: auditId }),
  audits: (orgId: string) => ({ pk: `${org(orgId)}#AUDIT`, prefix: 'aud_' }),
  attention: (orgId: string, attentionId: string): Key => ({ pk: `${org(orgId)}#ATTENTION`, sk: attentionId }),
  attentions: (orgId: string) => ({ pk: `${org(orgId)}#ATTENTION`, prefix: 'att_' }),
  schedule: (orgId: string, scheduleId: string): Key => ({
    pk: `${org(orgId)}#SCHEDULE#${scheduleId}`,
    sk: 'SCHEDULE',
  }),
  /** The head: listed, small; what is in a version stands apart. */
  template: (orgId: string, templateId: string): Key => ({ pk: org(orgId), sk: `TEMPLATE#${templateId}` }),
  templates: (orgId: string) => ({ pk: org(orgId), prefix: 'TEMPLATE#' }),
  workflow: (orgId: string, workflowId: string): Key => ({ pk: org(orgId), sk: `WORKFLOW#${workflowId}` }),
  workflows: (orgId: string) => ({ pk: org(orgId), prefix: 'WORKFLOW#' }),
  workflowName: (orgId: string, name: string): Key => ({ pk: org(orgId), sk: `WORKFLOWNAME#${name}` }),
  workflowVersion: (orgId: string, workflowId: string, version: number): Key => ({
    pk: `${org(orgId)}#WORKFLOW#${workflowId}`,
    sk: `VERSION#${padded(version, 6)}`,
  }),
  effect: (orgId: string, effectId: string): Key => ({ pk: `${org(orgId)}#EFFECT#${effectId}`, sk: 'EFFECT' }),
  webhook: (orgId: string, webhookId: string): Key => ({ pk: org(orgId), sk: `WEBHOOK#${webhookId}` }),
  webhooks: (orgId: string) => ({ pk: org(orgId), prefix: 'WEBHOOK#' }),
  webhookGate: (orgId: string, webhookId: string): Key => ({ pk: webhookPk(orgId, webhookId), sk: 'GATE' }),
  webhookDelivery: (orgId: string, webhookId: string, deliveryId: string): Key => ({
    pk: webhookPk(orgId, webhookId),
    sk: `DELIVERY#${deliveryId}`,
  }),
  webhookDeliveries: (orgId: string, webhookId: string) => ({ pk: webhookPk(orgId, webhookId), prefix: 'DELIVERY#' }),
  webhookHeld: (orgId: string, webhookId: string, deliveryId: string): Key => ({
    pk: webhookPk(orgId, webhookId),
    sk: `HELD#${deliveryId}`,
  }),
  allWebhookHeld: (orgId: string, webhookId: string) => ({ pk: webhookPk(orgId, webhookId), prefix: 'HELD#' }),
  ...routerKeys,
} as const;

/** The `byOwner` index: `ownerPk` of what an organisation owns, by kind; `ownerSk` is the id, which sorts by time. */
export const owner = {
  agents: (orgId: string): string => `${org(orgId)}#AGENTS`,
  executions: (orgId: string): string => `${org(orgId)}#EXECUTIONS`,
  asks: (orgId: string): string => `${org(orgId)}#ASKS`,
  schedules: (orgId: string): string => `${org(orgId)}#SCHEDULES`,
  threads: (orgId: string): string => `${org(orgId)}#THREADS`,
  triggers: (orgId: string): string => `${org(orgId)}#TRIGGERS`,
  tickets: (orgId: string): string => `${org(orgId)}#TICKETS`,
  postings: (orgId: string): string => `${org(orgId)}#POSTINGS`,
} as const;

/** Shards of the `due` index. More shards spread writes; each costs the clock one Query a round. */
export const DUE_SHARDS = 4;

export type DueKind = 'sweep' | 'tick';

const shardOf = (id: string): number => {
  let hash = 0;
  for (const character of id) hash = (hash * 31 + character.charCodeAt(0)) >>> 0;
  return hash % DUE_SHARDS;
};

const PUT_OFF = /~(\d{1,9})$/;

export const due = {
  pk: (kind: DueKind, shard: number): string => `DUE#${kind}#${shard}`,
  pkOf: (kind: DueKind, id: string): string => `DUE#${kind}#${shardOf(id)}`,
  /** Time first, so that a Query up to now finds what is due; the id keeps rows of one moment apart. */
  sk: (atMs: number, id: string): string => `${new Date(atMs).toISOString()}#${id}`,
  /** Upper bound of a Query for everything due at `atMs` or before. */
  upTo: (atMs: number): string => `${new Date(atMs).toISOString()}#${LAST}`,
  at: (dueSk: string): number => Date.parse(dueSk.slice(0, dueSk.indexOf('#'))),
  /** The mark of a row that the clock failed on, later; behind the id stands how often that was. Whoever sets a new mark begins anew. */
  putOff: (dueSk: string, atMs: number): string => {
    const id = dueSk.slice(dueSk.indexOf('#') + 1).replace(PUT_OFF, '');
    return `${due.sk(atMs, id)}~${due.timesPutOff(dueSk) + 1}`;
  },
  timesPutOff: (dueSk: string): number => Number(PUT_OFF.exec(dueSk)?.[1] ?? 0),
} as const;

/** Keys of objects in the bucket; tenant first here too. */
export const blobKeys = {
  fileVersion: (orgId: string, executionId: string, version: string): string =>
    `org/${orgId}/exec/${executionId}/files/${version}`,
  spilled: (orgId: string, executionId: string, seq: number, n: number): string =>
    `org/${orgId}/exec/${executionId}/spilled/${padded(seq, 9)}-${padded(n, 4)}`,
  delivery: (orgId: string, sourceId: string, deliveryId: string): string =>
    `org/${orgId}/source/${sourceId}/${deliveryId}`,
  parked: (day: string, messageId: string): string => `parked/${day}/${messageId}`,
} as const;

/** Reads ids back out of an execution's primary key (from an index, which carries keys only). */
export const parseExecutionPk = (pk: string): { readonly orgId: string; readonly executionId: string } | undefined => {
  const match = /^ORG#([^#]+)#EXEC#([^#]+)$/.exec(pk);
  return match?.[1] !== undefined && match[2] !== undefined ? { orgId: match[1], executionId: match[2] } : undefined;
};

/** What a usage row is of, read back out of its sort key: each byte of such a row counts. */
export const parseUsageSk = (
  sk: string,
): { readonly day: string; readonly agentId: string; readonly projectId: string } | undefined => {
  const [, day, agentId, projectId] = /^(\d{4}-\d\d-\d\d)#([^#]+)#([^#]+)#\d+$/.exec(sk) ?? [];
  return day !== undefined && agentId !== undefined && projectId !== undefined
    ? { day, agentId, projectId }
    : undefined;
};
