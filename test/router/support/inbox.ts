/** Sources, ingest and resolver in memory, with the Threads' room behind them. */
import { createHmac, randomUUID } from 'node:crypto';
import { githubChannel } from '../../../lib/channel/github/channel.ts';
import { httpChannel } from '../../../lib/channel/http/channel.ts';
import { makeIds } from '../../../lib/kernel/ids.ts';
import { type Provider, ProviderError, type RawDelivery } from '../../../lib/router/channel.ts';
import { type Delivery, readDelivery } from '../../../lib/router/ingest/delivery.ts';
import { type IngestDeps, type Ingested, ingest } from '../../../lib/router/ingest/ingest.ts';
import { type ResolveDeps, resolveDelivery } from '../../../lib/router/ingest/resolve.ts';
import type { AssessMessage, InboxMessage } from '../../../lib/router/message.ts';
import { NEW_POLICY, type Policy } from '../../../lib/router/policy/policy.ts';
import { headItem, versionItem } from '../../../lib/router/policy/policy-row.ts';
import { createSource } from '../../../lib/router/source/change-source.ts';
import { findSource } from '../../../lib/router/source/find.ts';
import type { GivenSource } from '../../../lib/router/source/given.ts';
import { storeTrigger } from '../../../lib/router/thread/store.ts';
import { setSubject } from '../../../lib/router/thread/subject.ts';
import { readThread, type Thread } from '../../../lib/router/thread/thread.ts';
import { readTrigger, type Trigger } from '../../../lib/router/thread/trigger.ts';
import { withdrawTrigger } from '../../../lib/router/thread/withdraw.ts';
import { bootstrap } from '../../../lib/tenancy/bootstrap.ts';
import { makeFakeClock } from '../../support/fake-clock.ts';
import { makeMemoryBlobs } from '../../support/memory-blobs.ts';
import { makeMemoryLog } from '../../support/memory-log.ts';
import { makeMemoryQueue } from '../../support/memory-queue.ts';
import { makeMemorySecrets } from '../../support/memory-secrets.ts';
import { makeMemoryTable } from '../../support/memory-table.ts';
import { makeDesk } from './desk.ts';

export const SECRET = 'sample-github-secret';
export const SELF = { id: '700000999', login: 'team-agent[bot]', appId: '31337' };
export const ALICE = '700000001';
/** After the samples. */
const NOW = Date.parse('2026-11-30T03:00:00Z');

export const GITHUB: GivenSource = {
  kind: 'github',
  name: 'widget',
  webhookSecrets: [SECRET],
  self: SELF,
  token: 'ghp_x',
};

/** A page of the provider: what it answers, or what it throws. */
export type Page = object | ProviderError;

export const signed = (body: Uint8Array | string, secret = SECRET): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

export const githubDelivery = (event: string, payload: unknown, more: Record<string, string> = {}): RawDelivery => {
  const body = Buffer.from(JSON.stringify(payload));
  const headers = {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': signed(body),
    ...more,
  };
  return { headers, body };
};

export const makeInbox = async (given: GivenSource = GITHUB, policy: Partial<Policy> = {}) => {
  const clock = makeFakeClock(NOW);
  const table = makeMemoryTable(() => clock.now());
  const blobs = makeMemoryBlobs();
  const secrets = makeMemorySecrets();
  const ids = makeIds();
  const log = makeMemoryLog();
  const inbox = makeMemoryQueue<InboxMessage>();
  const assess = makeMemoryQueue<AssessMessage>();
  const { organisationId: orgId } = await bootstrap({ table, ids, clock }, { organisation: 'A' });
  const judgeUrl = () => undefined;
  const source = await createSource({ table, ids, secrets, judgeUrl }, orgId, given, 'key', clock.now(), () => []);
  const sourceId = source.id;
  const whole: Policy = {
    ...NEW_POLICY,
    allow: [{ sourceId, actorId: ALICE }],
    admission: [{ sourceId, scope: '*', ceiling: 'explicit' }],
    ...policy,
  };
  const at = new Date(clock.now()).toISOString();
  await table.put(versionItem(orgId, { version: 1, policy: whole, at, by: 'key' }));
  await table.put(headItem(orgId, 1));

  const pages = new Map<string, Page>();
  const asked: string[] = [];
  const provider: Pick<Provider, 'get'> = {
    async get(repositoryId, path) {
      asked.push(`${repositoryId} ${path}`);
      const page = pages.get(path);
      if (page === undefined) throw new ProviderError('gone', `${path} is not there.`, { status: 404 });
      if (page instanceof ProviderError) throw page;
      return JSON.parse(JSON.stringify(page));
    },
  };
  const channels = { github: githubChannel, http: httpChannel };
  const deps: IngestDeps = { table, blobs, secrets, inbox, clock, ids, log, channels };
  const threadDeps = {
    table,
    clock,
    ids,
    log,
    assess,
    desk: makeDesk(table),
    names: (text: string, { kind, ...rest }: typeof source) =>
      (kind === 'http' ? httpChannel : githubChannel).names(text, { kind, ...rest }),
  };
  const resolveDeps: ResolveDeps = {
    table,
    blobs,
    clock,
    channels,
    provider: async () => provider as Provider,
    threads: {
      store: (org, event) => storeTrigger(threadDeps, org, event),
      withdraw: (org, gone) => withdrawTrigger(threadDeps, org, gone),
      subject: (org, subject) => setSubject(threadDeps, org, subject),
    },
  };

  const rows = <Row>(sk: string, read: (item: ReturnType<typeof table.dump>[number]) => Row): Row[] =>
    table
      .dump()
      .filter((item) => item.sk.startsWith(sk))
      .map(read);
  const deliveries = (): Delivery[] =>
    rows('DELIVERY#', readDelivery).sort((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)));

  return {
    ...{
      orgId,
      source,
      sourceId,
      clock,
      table,
      blobs,
      secrets,
      inbox,
      assess,
      ids,
      log,
      pages,
      asked,
      deps,
      resolveDeps,
    },
    send: (raw: RawDelivery): Promise<Ingested> => ingest(deps, sourceId, raw),
    /** Lets the resolver see everything that woke it. */
    async drain(): Promise<void> {
      for (const { message } of inbox.take()) await resolveDelivery(resolveDeps, message);
    },
    /** One event of GitHub, taken in and resolved. @returns its row */
    async tell(event: string, payload: unknown): Promise<Delivery> {
      const { deliveryId } = await ingest(deps, sourceId, githubDelivery(event, payload));
      for (const { message } of inbox.take()) await resolveDelivery(resolveDeps, message);
      const found = deliveries().find(({ id }) => id === deliveryId);
      if (found === undefined) throw new Error('The delivery has no row.');
      return found;
    },
    deliveries,
    triggers: (): Trigger[] => rows('TRIGGER#', readTrigger),
    threads: (): Thread[] => rows('THREAD', readThread),
    stands: () => findSource(table, orgId, sourceId),
  };
};

export type Inbox = Awaited<ReturnType<typeof makeInbox>>;
