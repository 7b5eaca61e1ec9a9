import { beforeEach, describe, expect, it } from 'vitest';
import { assessThread } from '../../lib/router/assess/assess.ts';
import { headItem, versionItem } from '../../lib/router/policy/policy-row.ts';
import { storeTrigger } from '../../lib/router/thread/store.ts';
import { decideAll, makeTeam, POLICY, SOURCE, STRANGER, said, sourceItem } from '../router/support/team.ts';
import { type Harness, makeHarness } from './support/harness.ts';

let h: Harness;
let orgId: string;
let ids: readonly string[];
let threadId: string;

/** A request that opens a ticket, what follows goes to it; a stranger elsewhere; what nobody admits. */
beforeEach(async () => {
  h = await makeHarness();
  orgId = h.a.organisationId;
  const team = await makeTeam(
    decideAll((_, index) =>
      index === 0 ? { decision: 'accept', title: 'x', ruleId: 'bugs' } : { decision: 'ignore' },
    ),
    { table: () => h.table },
  );
  const policy = { ...POLICY, mode: 'observe' as const };
  await h.table.put(versionItem(orgId, { version: 1, policy, at: '2026-01-01T00:00:00.000Z', by: 'key_1' }));
  await h.table.put(headItem(orgId, 1));
  await h.table.put({ ...sourceItem(), pk: `ORG#${orgId}`, orgId });
  const assess = async (): Promise<void> => {
    for (const { message } of team.queue.take()) {
      const delivery = { messageId: 'm', receiptHandle: 'm', receiveCount: 1 };
      await assessThread(team.deps, message, delivery, () => 300_000);
    }
  };
  const store = async (event: ReturnType<typeof said>) => {
    const stored = await storeTrigger(team.deps, orgId, event);
    await assess();
    return stored;
  };
  const first = await store(said('@baton mend it', { number: 1 }));
  const rest = [
    await store(said('and this', { number: 2 })),
    await store(said('it crashes', { number: 3, actor: STRANGER, issue: 2 })),
    await store(said('pushed', { number: 4, scope: 'push', issue: 2 })),
  ];
  threadId = first.threadId;
  ids = [first, ...rest].map(({ triggerId }) => triggerId);
});

const shown = (json: { readonly items?: unknown }) => json.items as { readonly [member: string]: unknown }[];
const list = async (path: string) => shown((await h.call('GET', path)).json);

describe('GET /v1/triggers', () => {
  it('shows each with its class, what the gate said and what became of it, newest first', async () => {
    const items = await list('/v1/triggers');
    expect(items.map(({ id }) => id)).toEqual(ids.toReversed());
    expect(items.map((item) => item.class)).toEqual(['ignored', 'inferred', 'direct', 'explicit']);
    expect(items[3]).toMatchObject({
      threadId,
      sourceId: SOURCE,
      kind: 'comment',
      actor: { id: '7', type: 'user' },
      gate: { class: 'explicit', row: 'allow[0]', policyVersion: 1 },
      state: 'decided',
      decision: { decision: 'accept', policyVersion: 1 },
      text: '@baton mend it',
      revision: 1,
      occurredAt: '2026-01-01T00:00:01.000Z',
    });
    expect(items[1]).toMatchObject({ decision: { decision: 'ignore', wouldAccept: true, ruleId: 'bugs' } });
    expect(items[0]).toMatchObject({ decision: { decision: 'ignore', reason: 'No row of the policy admits it.' } });
  });

  it('takes a Thread, a class, a state and a source, and comes in pages', async () => {
    expect((await list(`/v1/triggers?threadId=${threadId}`)).map(({ id }) => id)).toEqual([ids[1], ids[0]]);
    expect((await list('/v1/triggers?class=direct')).map(({ id }) => id)).toEqual([ids[1]]);
    expect((await list('/v1/triggers?state=delivered')).map(({ id }) => id)).toEqual([ids[1]]);
    expect(await list('/v1/triggers?sourceId=src_other')).toEqual([]);
    const first = await h.call('GET', `/v1/triggers?limit=3`);
    const second = await h.call('GET', `/v1/triggers?limit=3&cursor=${String(first.json.nextCursor)}`);
    expect(shown(second.json).map(({ id }) => id)).toEqual([ids[0]]);
    expect((await h.call('GET', '/v1/triggers?threadId=elsewhere')).status).toBe(400);
    expect((await h.call('GET', '/v1/triggers?class=important')).status).toBe(400);
  });
});

describe('GET /v1/threads', () => {
  it('shows discussions with the tickets that subscribe', async () => {
    const items = await list('/v1/threads');
    expect(items.map(({ title }) => title)).toEqual(['Issue 2', 'Issue 1']);
    expect(items[1]).toMatchObject({ id: threadId, key: 'gh:4711:issue:1', repositoryId: '4711', assessing: false });
    expect(items[1]?.ticketIds).toHaveLength(1);
    const one = await h.call('GET', `/v1/threads/${threadId}`);
    expect(one.json).toEqual({ ...items[1], pendingTriggerIds: [] });
  });

  it('answers 404 for one that is not there, or belongs to somebody else', async () => {
    expect((await h.call('GET', `/v1/threads/thr_${'0'.repeat(26)}`)).status).toBe(404);
    expect((await h.call('GET', '/v1/threads/1')).status).toBe(404);
    expect((await h.call('GET', `/v1/threads/${threadId}`, undefined, { key: h.b.apiKey })).status).toBe(404);
    for (const path of ['/v1/triggers', '/v1/threads', '/v1/decisions']) {
      expect((await h.call('GET', path, undefined, { key: h.b.apiKey })).json).toEqual({ items: [] });
      expect((await h.call('GET', path, undefined, { key: 'none' })).status).toBe(401);
    }
  });
});

describe('GET /v1/decisions', () => {
  it('shows what was decided, by which rule and version, newest first', async () => {
    const items = await list('/v1/decisions');
    expect(items).toMatchObject([
      { triggerId: ids[2], decision: 'ignore', wouldAccept: true, ruleId: 'bugs', policyVersion: 1, revision: 1 },
      { triggerId: ids[0], threadId, decision: 'accept', reason: 'because' },
    ]);
    expect(await list('/v1/decisions?wouldAccept=true')).toHaveLength(1);
    expect(await list('/v1/decisions?decision=accept')).toHaveLength(1);
    expect(await list(`/v1/decisions?threadId=${threadId}`)).toHaveLength(1);
    expect((await h.call('GET', '/v1/decisions?decision=perhaps')).status).toBe(400);
  });
});
