import { describe, expect, it } from 'vitest';
import { keys } from '../../../lib/kernel/keys.ts';
import { MessageGone } from '../../../lib/kernel/ports.ts';
import { set } from '../../../lib/kernel/table.ts';
import { assessThread } from '../../../lib/router/assess/assess.ts';
import type { Policy } from '../../../lib/router/policy/policy.ts';
import { storeTrigger } from '../../../lib/router/thread/store.ts';
import { ROUTER } from '../../../lib/usage/book.ts';
import { NO_FIGURES, NO_PROJECT } from '../../../lib/usage/figures.ts';
import { readUsage } from '../../../lib/usage/row.ts';
import { answerKey } from '../support/desk.ts';
import { asked, decideAll, makeTeam, ORG, POLICY, reply, STRANGER, said, type Team } from '../support/team.ts';

const accept = { decision: 'accept', title: 'Mend it', mandate: { verb: 'merge-guarded' } };
const given = (team: Team) => team.table.dump().filter(({ sk }) => sk.startsWith('GIVEN#'));
const postings = (team: Team) => team.table.dump().filter(({ sk }) => sk === 'POSTING');

describe('the Eval', () => {
  it('accepts: ticket, mandate cut to the grant, subscription and decision in one transaction', async () => {
    const team = await makeTeam(decideAll(() => accept));
    const { triggerId, threadId } = await storeTrigger(team.deps, ORG, said('@baton mend it'));
    await team.assess();
    const [ticket] = team.tickets();
    expect(ticket).toMatchObject({ title: 'Mend it', mandate: { verb: 'pr', repositoryId: '4711', state: 'active' } });
    expect(team.thread()).toMatchObject({ tickets: [ticket?.id], subscriptions: 1, attempts: 0 });
    expect(team.thread().owner).toBeUndefined();
    expect(team.thread().dueSk).toBeUndefined();
    expect(team.trigger(triggerId)).toMatchObject({
      state: 'decided',
      decision: { decision: 'accept', ticketId: ticket?.id, policyVersion: 1 },
    });
    expect(team.decisions()).toMatchObject([{ triggerId, threadId, decision: 'accept', ticketId: ticket?.id }]);
  });

  it('answers once, where it was asked', async () => {
    const team = await makeTeam(decideAll(() => ({ decision: 'answer', reply: 'Nothing is going on.' })));
    const { triggerId } = await storeTrigger(team.deps, ORG, said('@baton what are you at?'));
    await team.assess();
    expect(await team.table.get(answerKey(ORG, triggerId, 1))).toMatchObject({ body: 'Nothing is going on.' });
    expect(postings(team)).toHaveLength(1);
  });

  it('I6: a policy that changes while the model thinks lets no ticket be opened; the next look is by the new one', async () => {
    let team: Team | undefined;
    const observe: Policy = { ...POLICY, mode: 'observe', allow: [] };
    team = await makeTeam(async (request, call) => {
      if (call === 1) await team?.policy(observe);
      return decideAll(() => ({ ...accept, ruleId: 'bugs' }))(request, call);
    });
    const { triggerId } = await storeTrigger(team.deps, ORG, said('@baton mend it'));
    await team.assess();
    expect(team.tickets()).toEqual([]);
    expect(team.requests).toHaveLength(2);
    expect(team.trigger(triggerId)).toMatchObject({
      state: 'decided',
      gate: { class: 'inferred', policyVersion: 2 },
      decision: { decision: 'ignore', wouldAccept: true, policyVersion: 2 },
    });
  });

  it.each(['off', 'observe', 'auto'] as const)('I19: mode %s and what is inferred', async (mode) => {
    const team = await makeTeam(decideAll(() => ({ ...accept, ruleId: 'bugs' })));
    await team.policy({ ...POLICY, mode });
    await storeTrigger(team.deps, ORG, said('it crashes', { actor: STRANGER }));
    await team.assess();
    expect(team.tickets()).toHaveLength(mode === 'auto' ? 1 : 0);
    expect(team.requests).toHaveLength(mode === 'off' ? 0 : 1);
  });

  it('I19: whoever is listed is heard in every mode', async () => {
    for (const mode of ['off', 'observe', 'auto'] as const) {
      const team = await makeTeam(decideAll(() => accept));
      await team.policy({ ...POLICY, mode });
      await storeTrigger(team.deps, ORG, said('@baton mend it'));
      await team.assess();
      expect(team.tickets(), mode).toHaveLength(1);
    }
  });

  it('I20: observe notes what it would have accepted, with rule and version', async () => {
    const team = await makeTeam(decideAll(() => ({ ...accept, ruleId: 'bugs' })));
    await team.policy({ ...POLICY, mode: 'observe' });
    await storeTrigger(team.deps, ORG, said('it crashes', { actor: STRANGER }));
    await team.assess();
    expect(team.decisions()).toMatchObject([
      { decision: 'ignore', wouldAccept: true, ruleId: 'bugs', policyVersion: 2, reason: 'because' },
    ]);
  });

  it('takes what comes while the model thinks as the next batch, in one claim', async () => {
    let team: Team | undefined;
    team = await makeTeam(async (request, call) => {
      if (call === 1) for (const text of ['b', 'c', 'd']) await storeTrigger(team?.deps ?? fail(), ORG, said(text));
      return decideAll(() => ({ decision: 'ignore' }))(request, call);
    });
    await storeTrigger(team.deps, ORG, said('a'));
    await team.assess();
    expect(team.requests.map((request) => asked(request).length)).toEqual([1, 3]);
    expect(team.triggers().every(({ state }) => state === 'decided')).toBe(true);
    // Messages that met the live lease died; those after it found nothing.
    expect(team.thread().dueSk).toBeUndefined();
  });

  it('asks about ten at most at once', async () => {
    const team = await makeTeam(decideAll(() => ({ decision: 'ignore' })));
    for (let count = 0; count < 23; count++) await storeTrigger(team.deps, ORG, said(`n ${count}`));
    await team.assess();
    expect(team.requests.map((request) => asked(request).length)).toEqual([10, 10, 3]);
  });

  it('opens one ticket for a Thread: what was pending beside it goes to that', async () => {
    const team = await makeTeam(decideAll(() => accept));
    for (const text of ['@baton a', '@baton b', '@baton c']) await storeTrigger(team.deps, ORG, said(text));
    await team.assess();
    expect(team.tickets()).toHaveLength(1);
    expect(
      team
        .triggers()
        .map(({ state }) => state)
        .sort(),
    ).toEqual(['decided', 'delivered', 'delivered']);
    expect(given(team)).toHaveLength(2);
    expect(team.requests).toHaveLength(1);
  });

  it('decides nothing about a text that was edited while the model thought', async () => {
    let team: Team | undefined;
    team = await makeTeam(async (request, call) => {
      if (call === 1) {
        await storeTrigger(
          team?.deps ?? fail(),
          ORG,
          said('@baton never mind', { number: 900, at: 901, edited: true }),
        );
      }
      return decideAll(() => (call === 1 ? accept : { decision: 'ignore' }))(request, call);
    });
    const { triggerId } = await storeTrigger(team.deps, ORG, said('@baton mend it', { number: 900 }));
    await team.assess();
    expect(team.tickets()).toEqual([]);
    expect(team.trigger(triggerId)).toMatchObject({ revision: 2, decision: { decision: 'ignore' } });
  });

  it('I21: a stop that comes while the model thinks leaves nothing to accept', async () => {
    let team: Team | undefined;
    team = await makeTeam(async (request, call) => {
      if (call === 1) await storeTrigger(team?.deps ?? fail(), ORG, said('@baton stop'));
      return decideAll(() => accept)(request, call);
    });
    const { triggerId } = await storeTrigger(team.deps, ORG, said('@baton mend it'));
    await team.assess();
    expect(team.tickets()).toEqual([]);
    expect(team.trigger(triggerId).decision).toMatchObject({
      decision: 'ignore',
      reason: expect.stringMatching(/stop/),
    });
  });

  it('holds an organisation that was stopped, and looks again later', async () => {
    const team = await makeTeam(decideAll(() => accept));
    await team.table.update(keys.organisation(ORG), [
      set('stopped', { at: new Date(team.clock.now()).toISOString(), by: 'key_1' }),
    ]);
    await storeTrigger(team.deps, ORG, said('@baton mend it'));
    await team.assess();
    expect(team.requests).toEqual([]);
    expect(team.thread()).toMatchObject({ dirty: 1 });
    expect(team.thread().dueSk).toBeDefined();
    expect(team.thread().owner).toBeUndefined();
  });
});

const fail = (): never => {
  throw new Error('There is no team yet.');
};

describe('what the model leaves out or spoils', () => {
  it('is asked to be mended once', async () => {
    const team = await makeTeam((request, call) =>
      call === 1 ? reply('I would accept it.') : decideAll(() => accept)(request, call),
    );
    await storeTrigger(team.deps, ORG, said('@baton mend it'));
    await team.assess();
    expect(team.tickets()).toHaveLength(1);
    expect(team.requests).toHaveLength(2);
    expect(team.requests[1]?.messages.at(-1)?.content).toMatch(/not JSON of the form/);
  });

  it('stays pending for three rounds; then a person is told of what was explicit, and the rest is ignored', async () => {
    const team = await makeTeam(decideAll(() => undefined));
    const explicit = await storeTrigger(team.deps, ORG, said('@baton mend it'));
    const inferred = await storeTrigger(team.deps, ORG, said('it crashes', { actor: STRANGER }));
    await team.assess();
    expect(team.requests).toHaveLength(3);
    for (const { triggerId } of [explicit, inferred]) {
      expect(team.trigger(triggerId)).toMatchObject({ state: 'decided', decision: { decision: 'ignore' } });
    }
    const attention = team.table.dump().filter(({ sk }) => sk.startsWith('att_'));
    expect(attention).toMatchObject([{ kind: 'trigger_undecided', subjectId: explicit.triggerId }]);
  });

  it('waits as long as the provider says, and is asked again by its own message', async () => {
    const team = await makeTeam((request, call) =>
      call === 1
        ? { kind: 'retry', code: 'model_rate_limited', message: 'slow down', retryAfterMs: 7_000, billed: false }
        : decideAll(() => accept)(request, call),
    );
    await storeTrigger(team.deps, ORG, said('@baton mend it'));
    await expect(team.assess()).rejects.toThrow('The model needs time.');
    expect(team.queue.visibilityChanges.at(-1)).toEqual({ receiptHandle: 'm1', seconds: 7 });
    // Another message does not ask sooner.
    await storeTrigger(team.deps, ORG, said('@baton please'));
    await team.assess();
    expect(team.requests).toHaveLength(1);
    await team.clock.advance(8_000);
    await team.deps.assess.send({ orgId: ORG, threadId: team.thread().id }, { delaySeconds: 0, tenant: ORG });
    await team.assess();
    expect(team.tickets()).toHaveLength(1);
  });

  it('calls itself a little after the wait where its message is gone: on a clock that is behind it would die before', async () => {
    const team = await makeTeam(() => ({
      kind: 'retry',
      code: 'model_rate_limited',
      message: 'slow down',
      retryAfterMs: 7_000,
      billed: false,
    }));
    await storeTrigger(team.deps, ORG, said('@baton mend it'));
    let hidden = 0;
    team.queue.changeVisibility = async () => {
      if (hidden++ > 0) throw new MessageGone('deleted');
    };
    await expect(team.assess()).rejects.toThrow('The model needs time.');
    expect(team.queue.sent).toMatchObject([{ delaySeconds: 9 }]);
    expect(team.thread().notBefore).toBe(team.clock.now() + 7_000);
  });

  it('passes the Thread on before it asks anybody where its message is gone already', async () => {
    const team = await makeTeam(decideAll(() => accept));
    const { threadId } = await storeTrigger(team.deps, ORG, said('@baton mend it'));
    const hide = team.queue.changeVisibility;
    team.queue.changeVisibility = async () => {
      team.queue.changeVisibility = hide;
      throw new MessageGone('deleted');
    };
    const [message] = team.queue.take();
    const delivery = { messageId: 'gone', receiptHandle: 'gone', receiveCount: 1 };
    await assessThread(team.deps, message?.message ?? fail(), delivery, () => 300_000);
    expect(team.requests).toEqual([]);
    expect(team.thread()).toMatchObject({ epoch: 1, attempts: 0 });
    expect(team.thread().owner).toBeUndefined();
    expect(team.queue.sent).toMatchObject([{ message: { orgId: ORG, threadId }, delaySeconds: 0 }]);
    await team.assess();
    expect(team.tickets()).toHaveLength(1);
  });

  it('an account that has to be mended is one item of attention, which closes when it works', async () => {
    let broken = true;
    const team = await makeTeam((request, call) =>
      broken
        ? { kind: 'stop', code: 'model_unauthorized', message: 'The key is refused.' }
        : decideAll(() => accept)(request, call),
    );
    const { threadId } = await storeTrigger(team.deps, ORG, said('@baton mend it'));
    await team.assess();
    const attention = () => team.table.dump().filter(({ sk }) => sk.startsWith('att_'));
    expect(attention()).toMatchObject([
      { kind: 'assessment_stopped', question: expect.stringMatching(/key is refused/) },
    ]);
    broken = false;
    await team.deps.assess.send({ orgId: ORG, threadId }, { delaySeconds: 0, tenant: ORG });
    await team.assess();
    expect(team.tickets()).toHaveLength(1);
    expect(attention()).toEqual([]);
    expect(team.thread().stuckSince).toBeUndefined();
  });
});

describe('what an assessment costs', () => {
  it('is in the books of the day and the model, once', async () => {
    const team = await makeTeam(decideAll(() => accept));
    await storeTrigger(team.deps, ORG, said('@baton mend it'));
    await team.assess();
    const usage = team.table.dump().filter(({ pk }) => pk.endsWith('#USAGE'));
    const figures = { ...NO_FIGURES, calls: 1, input: 100, output: 20, cost: 120 };
    expect(usage.map(readUsage)).toEqual([
      {
        day: '2026-01-01',
        agentId: ROUTER,
        projectId: NO_PROJECT,
        all: figures,
        models: new Map([['assessor', figures]]),
        tools: new Map(),
      },
    ]);
  });

  it('is drawn from the budget of the day, and what was not spent is given back', async () => {
    const team = await makeTeam(decideAll(() => accept));
    await team.table.update(keys.organisation(ORG), [set('dailyBudget', 1_000_000)]);
    await storeTrigger(team.deps, ORG, said('@baton mend it'));
    await team.assess();
    expect(await team.table.get(keys.budget(ORG, '2026-01-01'))).toMatchObject({ granted: 120 });
  });

  it('is not spent where nothing is left: people are told once, the Trigger stays pending', async () => {
    const team = await makeTeam(decideAll(() => accept));
    await team.table.update(keys.organisation(ORG), [set('dailyBudget', 100)]);
    const { triggerId } = await storeTrigger(team.deps, ORG, said('@baton mend it'));
    await team.assess();
    await team.deps.assess.send({ orgId: ORG, threadId: team.thread().id }, { delaySeconds: 0, tenant: ORG });
    await team.assess();
    expect(team.requests).toEqual([]);
    expect(team.trigger(triggerId).state).toBe('pending');
    const attention = team.table.dump().filter(({ sk }) => sk.startsWith('att_'));
    expect(attention).toMatchObject([{ kind: 'organisation_budget' }]);
    expect(team.thread().dueSk).toBeDefined();
  });
});
