/** Nobody touches a row that they cannot read: every use case is shown rows of a newer writer and damaged ones. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buryEffect, deliverEffect, sweepEffect } from '../../lib/effect/deliver.ts';
import { changeLimits } from '../../lib/execution/change-limits.ts';
import { sweepExecution, tickExecution } from '../../lib/execution/clock.ts';
import { pauseExecution, resumeExecution, terminateAll, terminateExecution } from '../../lib/execution/control.ts';
import { judgeDeadLetter } from '../../lib/execution/dead-letter.ts';
import { decidePermission } from '../../lib/execution/decide.ts';
import { FEED_ATTRIBUTES as F } from '../../lib/execution/feed.ts';
import { giveInput } from '../../lib/execution/input.ts';
import { UnreadableRow } from '../../lib/kernel/errors.ts';
import { keys } from '../../lib/kernel/keys.ts';
import type { Item } from '../../lib/kernel/table.ts';
import type { ModelClient } from '../../lib/model/model.ts';
import { resumeOrganisation, stopOrganisation } from '../../lib/tenancy/organisation.ts';
import { AGENT, type Engine, makeTenantEngine, ORG } from './support/engine.ts';
import { runs, TEST_MS } from './support/runs.ts';

type Use = (engine: Engine, executionId: string) => Promise<unknown>;

const input = { kind: 'message', origin: 'person', trust: 'explicit' as const, wake: true, text: 'hello' };

const USES: { readonly [name: string]: Use } = {
  pause: (engine, executionId) => pauseExecution(engine.executionDeps(), { orgId: ORG, executionId }),
  resume: (engine, executionId) => resumeExecution(engine.executionDeps(), { orgId: ORG, executionId }),
  terminate: (engine, executionId) => terminateExecution(engine.executionDeps(), { orgId: ORG, executionId }),
  'change limits': (engine, executionId) =>
    changeLimits(engine.executionDeps(), { orgId: ORG, executionId }, { maxIterations: 99 }),
  input: (engine, executionId) => giveInput(engine.executionDeps(), { orgId: ORG, executionId }, input),
  decide: (engine, executionId) => {
    const permissionId = `ask_${executionId.slice(4)}_1_101`;
    return decidePermission(engine.executionDeps(), { orgId: ORG, permissionId, approve: true, actor: 'key' });
  },
  'terminate all': (engine) => terminateAll(engine.executionDeps(), ORG, AGENT),
  sweep: async (engine, executionId) => sweepExecution(engine.executionDeps(), await row(engine, executionId)),
  tick: async (engine, executionId) => tickExecution(engine.executionDeps(), await row(engine, executionId)),
  'dead letter': (engine, executionId) =>
    judgeDeadLetter(engine.executionDeps(), { orgId: ORG, executionId, seq: 1 }, 'dead-1'),
  step: async (engine) => {
    engine.pass(1_000);
    const error = await engine.deliver();
    if (error !== undefined) throw error;
  },
};

const row = async (engine: Engine, executionId: string): Promise<Item> => {
  const item = await engine.table.get(keys.execution(ORG, executionId));
  if (item === undefined) throw new Error('missing');
  return item;
};

const asking: ModelClient = {
  complete: async () => ({
    kind: 'reply',
    content: 'w',
    toolCalls: [{ id: 'c', name: 'write_file', arguments: '{"path":"a","content":"b"}' }],
    finishReason: 'tool_calls',
    refused: false,
    usage: { input: 1, output: 1, cached: 0 },
  }),
};

/** An execution in its first step: about to begin it, or asking leave for a call of it. */
const begun = async (waits: boolean): Promise<{ engine: Engine; executionId: string }> => {
  const engine = await makeTenantEngine();
  const executionId = await engine.start(ORG, AGENT, waits ? { permissionType: 'RESTRICTED' } : {});
  if (waits) {
    await engine.drain(asking);
    engine.steps.take();
  }
  engine.pass(3_600_000); // marks are due
  return { engine, executionId };
};

describe.each(Object.keys(USES))('a row of a newer version meets: %s', (name) => {
  const use = USES[name] as Use;
  const waits = name === 'decide' || name === 'input';

  it('the execution stays as it is', async () => {
    const { engine, executionId } = await begun(waits);
    const newer = { ...(await row(engine, executionId)), v: 2, novelty: 'x' };
    await engine.plant(newer);
    const before = engine.table.dump();
    await expect(use(engine, executionId)).rejects.toThrow(UnreadableRow);
    expect(engine.table.dump()).toEqual(before);
  });
});

it('a step that cannot read its execution leaves the message in the queue', async () => {
  const { engine, executionId } = await begun(false);
  await engine.plant({ ...(await row(engine, executionId)), v: 2 });
  for (let round = 0; round < 3; round++) expect(await engine.deliver()).toBeInstanceOf(UnreadableRow);
  expect(engine.queued()).toBe(1);
});

describe.each(['PINNED', 'FEED#000000000#0000', 'INPUT#000000001'])('a step that cannot read %s', (sk) => {
  it('buys nothing, leaves the row, and stops with a reason once its attempts are used', {
    timeout: TEST_MS,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<object>(
          { v: 2 },
          { kind: 7, [F.kind]: 7 },
          { json: '{' },
          { at: 'x', goals: 1, text: 1, [F.at]: 'x' },
        ),
        async (damage) => {
          const { engine, executionId } = await begun(false);
          await giveInput(engine.executionDeps(), { orgId: ORG, executionId }, input);
          const { pk } = keys.execution(ORG, executionId);
          const item = await engine.table.get({ pk, sk });
          if (item === undefined) throw new Error('missing');
          const bad = { ...item, ...damage } as Item;
          const isDamage = Object.keys(damage).some((key) => key in item);
          if (!isDamage) return;
          await engine.plant(bad);
          let bought = 0;
          const models: ModelClient = {
            complete: async () => {
              bought++;
              throw new Error('Nothing may be bought.');
            },
          };
          const errors = await engine.drain(models);
          expect(errors.every((error) => error instanceof UnreadableRow)).toBe(true);
          expect(errors.length).toBeGreaterThan(0);
          expect(bought).toBe(0);
          expect(await engine.table.get({ pk, sk })).toEqual(bad);
          const execution = await engine.execution(ORG, executionId);
          expect([execution.status, execution.reason]).toEqual(['ERROR_PAUSED', 'step_failed']);
          expect(execution.errorMessage).toContain('cannot be read');
        },
      ),
      runs(8),
    );
  });
});

describe('effects and organisations of a newer version', () => {
  it('an effect is neither sent, buried nor swept', async () => {
    const { engine } = await begun(false);
    const effect = engine.table.dump().find((item) => item.sk === 'EFFECT');
    if (effect === undefined) throw new Error('There is no effect.');
    await engine.plant({ ...effect, v: 2 });
    const before = engine.table.dump();
    const message = { orgId: ORG, effectId: String(effect.effectId) };
    const published: unknown[] = [];
    const deps = {
      ...engine.executionDeps(),
      effects: engine.effects,
      outlets: {
        bus: async (sent: unknown) => void published.push(sent),
        webhook: async (sent: unknown) => void published.push(sent),
        child: async (sent: unknown) => void published.push(sent),
        ticket: async (sent: unknown) => void published.push(sent),
      },
    };
    engine.effects.take();
    await expect(deliverEffect(deps, message)).rejects.toThrow(UnreadableRow);
    await buryEffect(deps, message).catch((error: unknown) => expect(error).toBeInstanceOf(UnreadableRow));
    await sweepEffect(deps, { ...effect, v: 2 }).catch((error: unknown) => expect(error).toBeInstanceOf(UnreadableRow));
    expect(published).toEqual([]);
    expect(engine.table.dump()).toEqual(before);
  });

  it('an organisation is neither stopped nor resumed', async () => {
    const { engine } = await begun(false);
    const key = keys.organisation(ORG);
    const item = await engine.table.get(key);
    for (const more of [{}, { stopped: { at: 1 } }]) {
      await engine.plant({ ...(item as Item), ...more, v: 2 });
      const before = engine.table.dump();
      await expect(stopOrganisation(engine.table, ORG, 'key', engine.now())).rejects.toThrow(UnreadableRow);
      await expect(resumeOrganisation(engine.table, ORG, async () => undefined)).rejects.toThrow(UnreadableRow);
      expect(engine.table.dump()).toEqual(before);
    }
  });
});
