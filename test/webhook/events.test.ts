import { describe, expect, it } from 'vitest';
import { type Effect, effectItem, readEffect } from '../../lib/effect/effect.ts';
import { type AskRow, askItem } from '../../lib/execution/rows.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { BUS } from '../../lib/names.ts';
import { deliveryIdOf, readDelivery } from '../../lib/webhook/delivery.ts';
import { askedEvents, eventOf } from '../../lib/webhook/events.ts';
import { fanOut } from '../../lib/webhook/fan-out.ts';
import type { WebhookMessage } from '../../lib/webhook/message.ts';
import { makeMemoryLog } from '../support/memory-log.ts';
import { makeMemoryQueue } from '../support/memory-queue.ts';
import { makeMemoryTable } from '../support/memory-table.ts';

const AT = Date.UTC(2026, 0, 1);
const effect = (to: string, more: Partial<Effect> = {}): Effect =>
  readEffect(
    effectItem({
      effectId: 'eff_1',
      orgId: 'org_1',
      kind: 'bus',
      detailType: BUS.statusChanged,
      detail: JSON.stringify({
        organisationId: 'org_1',
        executionId: 'exe_1',
        agentId: 'agt_1',
        from: 'RUNNING',
        to,
        at: new Date(AT).toISOString(),
      }),
      at: AT,
      sequence: 4,
      step: 3,
      ...more,
    } as Parameters<typeof effectItem>[0]),
  );
const ask = (more: Partial<AskRow> = {}): AskRow => ({
  v: 1,
  askId: 'ask_1_3_101',
  kind: 'permission',
  orgId: 'org_1',
  executionId: 'exe_1',
  seq: 3,
  n: 101,
  state: 'pending',
  tool: 'http_request',
  arguments: '{"url":"https://secret.example"}',
  argumentsHash: 'abc',
  why: 'to look',
  at: AT - 3,
  ...more,
});

describe('an event', () => {
  it('of a change of status has the id of the event on the bus and its number', () => {
    expect(eventOf(effect('PAUSED'))).toEqual({
      id: 'eff_1',
      type: 'execution.status_changed',
      at: AT,
      sequence: 4,
      data: { executionId: 'exe_1', agentId: 'agt_1', from: 'RUNNING', to: 'PAUSED', at: '2026-01-01T00:00:00.000Z' },
    });
  });

  it('of a row without a number takes its time', () => {
    const { sequence: _, ...older } = effect('PAUSED');
    expect(eventOf(older)).toMatchObject({ sequence: AT });
  });

  it('of a budget is told as it was written', () => {
    const detail = JSON.stringify({ executionId: 'exe_1', costUsd: 4, maxCostUsd: 5 });
    const warning = effect('', { kind: 'webhook', detailType: 'budget.warning', detail });
    expect(eventOf(warning)).toMatchObject({ type: 'budget.warning', data: { costUsd: 4, maxCostUsd: 5 } });
  });

  it('of a permission names it, without the arguments, and is one however often the run waits for it', () => {
    const [first] = askedEvents(effect('WAITING_FOR_PERMISSION'), [ask()]);
    expect(first).toMatchObject({ type: 'permission.requested', at: AT - 3, data: { permissionId: 'ask_1_3_101' } });
    expect(JSON.stringify(first)).not.toContain('secret.example');
    const [again] = askedEvents(effect('WAITING_FOR_PERMISSION', { effectId: 'eff_9', at: AT + 5_000 }), [ask()]);
    expect(again?.id).toBe(first?.id);
    expect(again && first && deliveryIdOf(again, 'whk_1') === deliveryIdOf(first, 'whk_1')).toBe(true);
  });

  it('of a permission is told of those open in that moment alone', () => {
    const asks = [
      ask({ askId: 'decided before', decidedAt: AT - 1, state: 'approved' }),
      ask({ askId: 'decided since', decidedAt: AT + 900, state: 'rejected' }),
      ask({ askId: 'asked later', at: AT + 1 }),
      ask({ askId: 'a question', kind: 'question' }),
    ];
    const told = askedEvents(effect('WAITING_FOR_PERMISSION'), asks).map(({ data }) => data.permissionId);
    expect(told).toEqual(['decided since']);
    expect(askedEvents(effect('WAITING_FOR_INPUT'), asks)).toMatchObject([
      { type: 'question.asked', data: { questionId: 'a question', question: 'to look' } },
    ]);
    expect(askedEvents(effect('PAUSED'), asks)).toEqual([]);
  });
});

describe('fan-out', () => {
  const endpoint = (id: string, events: string[], state = 'enabled') => ({
    ...keys.webhook('org_1', id),
    v: 1,
    id,
    orgId: 'org_1',
    url: 'https://x.example',
    events,
    headerNames: [],
    state,
    secretRef: 'r',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
  });

  it('makes a delivery for whoever wants the event and is enabled, once', async () => {
    const table = makeMemoryTable();
    const webhooks = makeMemoryQueue<WebhookMessage>();
    const log = makeMemoryLog();
    await table.put(endpoint('whk_both', ['execution.status_changed', 'permission.requested']));
    await table.put(endpoint('whk_asks', ['permission.requested']));
    await table.put(endpoint('whk_other', ['budget.warning']));
    await table.put(endpoint('whk_off', ['execution.status_changed'], 'disabled'));
    await table.put({ ...endpoint('whk_newer', ['execution.status_changed']), v: 2 });
    await table.put(askItem(ask()));
    await table.put(askItem(ask({ kind: 'question' })));
    const deps = { table, webhooks, log, clock: { now: () => AT } };
    for (let n = 0; n < 2; n++) await fanOut(deps, effect('WAITING_FOR_PERMISSION'));
    const rows = table
      .dump()
      .filter(({ sk }) => sk.startsWith('DELIVERY#'))
      .map(readDelivery);
    expect(rows.map(({ webhookId, type }) => `${webhookId} ${type}`).toSorted()).toEqual([
      'whk_asks permission.requested',
      'whk_both execution.status_changed',
      'whk_both permission.requested',
    ]);
    expect(JSON.parse(rows[0]?.body ?? '')).toMatchObject({
      id: rows[0]?.eventId,
      sequence: 4,
      createdAt: expect.any(String),
    });
    // The second time it cannot know that the first message went out.
    expect(webhooks.take()).toHaveLength(6);
    expect(log.lines.some(({ level }) => level === 'error')).toBe(true);
  });
});
