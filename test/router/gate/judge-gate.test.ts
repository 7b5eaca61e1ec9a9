import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GateEvent, judgeGate } from '../../../lib/router/gate/judge-gate.ts';
import { handleOf, namesHandle } from '../../../lib/router/gate/mentions.ts';
import { ACTOR_TYPES, CLASSES, gateSchema } from '../../../lib/router/thread/trigger.ts';
import {
  ALICE,
  eventOf,
  policyOf,
  SELF,
  SOURCE,
  STRANGER,
  someEvent,
  somePolicy,
  someText,
} from '../support/policies.ts';

const named = (event: GateEvent): boolean => namesHandle(event.text, handleOf(SELF.login));
const judge = (given: Partial<GateEvent> = {}, policy = policyOf()) => {
  const event = eventOf(given);
  return judgeGate(policy, event, SELF, named(event));
};

describe('the Gate', () => {
  it('a listed person who names us where that may be explicit is explicit', () => {
    expect(judge()).toEqual({
      class: 'explicit',
      row: 'allow[0]',
      reason: 'A listed person names us.',
      policyVersion: 3,
    });
  });

  it.each([
    ['who does not name us', { text: 'please look' }, 'mention'],
    ['who names another', { text: '@team-agents please' }, 'mention'],
    ['where the ceiling is inferred', { scope: 'check_run' }, 'admission[1]'],
  ] as const)('a listed person %s is inferred', (_, given, row) => {
    expect(judge(given)).toMatchObject({ class: 'inferred', row });
  });

  it('a scope that no row names falls to *, and to ignored without one', () => {
    expect(judge({ scope: 'issues' })).toMatchObject({ class: 'ignored', row: 'admission[2]' });
    expect(judge({ scope: 'issues' }, policyOf({ admission: [] }))).toMatchObject({ class: 'ignored', row: 'default' });
    expect(judge({ sourceId: 'src_other' })).toMatchObject({ class: 'ignored', row: 'default' });
  });

  it('the row of a scope stands over *, whatever their order', () => {
    const admission = [
      { sourceId: SOURCE, scope: '*', ceiling: 'explicit' as const },
      { sourceId: SOURCE, scope: 'issues', ceiling: 'ignore' as const },
    ];
    expect(judge({ scope: 'issues' }, policyOf({ admission }))).toMatchObject({
      class: 'ignored',
      row: 'admission[1]',
    });
    expect(judge({ scope: 'push' }, policyOf({ admission })).class).toBe('explicit');
  });

  it('a list entry counts in its own source', () => {
    const allow = [{ sourceId: 'src_other', actorId: ALICE }];
    expect(judge({}, policyOf({ allow }))).toMatchObject({ class: 'inferred', row: 'allow' });
  });

  it('a new policy lets nothing through', () => {
    expect(judge({}, policyOf({ allow: [], admission: [] })).class).toBe('ignored');
  });

  it('without a login of ours the channel alone says whether we are named', () => {
    const event = eventOf({ text: 'please look' });
    expect(judgeGate(policyOf(), event, undefined, true).class).toBe('explicit');
    expect(judgeGate(policyOf(), event, undefined, false).class).toBe('inferred');
  });
});

describe('I3, A3: what is no person is never explicit', () => {
  it.each(ACTOR_TYPES.filter((type) => type !== 'user'))('%s, listed and naming us', (type) => {
    expect(judge({ actor: { id: ALICE, type } })).toMatchObject({ class: 'inferred', row: 'actor' });
    expect(judge({ actor: { id: ALICE, type }, text: '@team-agent stop' })).not.toHaveProperty('stop');
  });
});

describe('I4, F52: a stranger is never explicit, even when naming us', () => {
  it('who is not listed', () => {
    expect(judge({ actor: { id: STRANGER, type: 'user', association: 'OWNER' } })).toMatchObject({
      class: 'inferred',
      row: 'allow',
    });
  });

  it.each(['NONE', 'FIRST_TIMER', 'FIRST_TIME_CONTRIBUTOR'])(
    'whom the repository does not know (%s)',
    (association) => {
      expect(judge({ actor: { id: ALICE, type: 'user', association } })).toMatchObject({
        class: 'inferred',
        row: 'association',
      });
    },
  );
});

describe('F50: who somebody is, is the id and the type', () => {
  it.each(['alice-example', 'Alice-Example', `${ALICE} `, `0${ALICE}`, 'alice[bot]'])('and not %j', (id) => {
    expect(judge({ actor: { id, type: 'user' } }).class).toBe('inferred');
    const allow = [{ sourceId: SOURCE, actorId: 'alice-example' }];
    expect(judge({ actor: { id: ALICE, type: 'user' } }, policyOf({ allow })).class).toBe('inferred');
  });
});

describe('C33, C34: an edit', () => {
  it('of another person never raises authority', () => {
    for (const authorId of [STRANGER, SELF.id, '']) {
      expect(judge({ authorId, edited: true })).toMatchObject({ class: 'inferred', row: 'author' });
      expect(judge({ authorId, edited: true, text: '@team-agent stop' })).not.toHaveProperty('stop');
    }
    const both = policyOf({ allow: [ALICE, STRANGER].map((actorId) => ({ sourceId: SOURCE, actorId })) });
    expect(judge({ authorId: STRANGER, edited: true }, both).class).toBe('inferred');
  });

  it("nor does an act on another's text", () => {
    expect(judge({ authorId: STRANGER })).toMatchObject({ class: 'inferred', row: 'author' });
  });

  it('of a stranger does not borrow the author', () => {
    expect(judge({ actor: { id: STRANGER, type: 'user' }, authorId: ALICE, edited: true }).class).toBe('inferred');
  });

  it('of the own text is judged as the text', () => {
    expect(judge({ edited: true, authorId: ALICE }).class).toBe('explicit');
    expect(judge({ edited: true, text: 'never mind' }).class).toBe('inferred');
  });

  it('that leaves the text as it was leaves the verdict as it was', () => {
    expect(judge({ edited: true })).toEqual(judge());
  });
});

describe('I1: our own', () => {
  it('is ignored, listed or not', () => {
    const allow = [{ sourceId: SOURCE, actorId: SELF.id }];
    for (const policy of [policyOf(), policyOf({ allow })]) {
      for (const type of ['user', 'bot'] as const) {
        const actor = { id: SELF.id, type };
        expect(judge({ actor }, policy)).toMatchObject({ class: 'ignored', row: 'self' });
        expect(judge({ actor, text: '@team-agent stop' }, policy)).not.toHaveProperty('stop');
      }
    }
  });
});

describe('whatever the policy, the event and the text', () => {
  it('explicit is only a listed person under an explicit ceiling who names us in their own words', async () => {
    await fc.assert(
      fc.property(fc.tuple(somePolicy, someEvent, fc.boolean()), ([{ version, policy }, event, isNamed]) => {
        const verdict = judgeGate({ version, policy }, event, SELF, isNamed);
        expect(gateSchema.parse(verdict)).toEqual(verdict);
        const { sourceId, scope, actor } = event;
        const listed = policy.allow.some((entry) => entry.sourceId === sourceId && entry.actorId === actor.id);
        const own = (event.authorId ?? actor.id) === actor.id;
        if (verdict.class === 'explicit') {
          expect([actor.type, listed, isNamed, own, actor.id === SELF.id]).toEqual(['user', true, true, true, false]);
          const rows = policy.admission.filter((row) => row.sourceId === sourceId && [scope, '*'].includes(row.scope));
          expect(rows.map(({ ceiling }) => ceiling)).toContain('explicit');
        }
        if (verdict.stop === true) expect([actor.type, listed, isNamed, own]).toEqual(['user', true, true, true]);
      }),
      { numRuns: 3_000 },
    );
  });

  it('the text raises nothing: with any other text a stranger, a bot or our own stays what it was', async () => {
    await fc.assert(
      fc.property(
        fc.tuple(somePolicy, someEvent, someText, fc.boolean(), fc.boolean()),
        ([policy, event, text, a, b]) => {
          const listed = policy.policy.allow.some(
            ({ sourceId, actorId }) => sourceId === event.sourceId && actorId === event.actor.id,
          );
          fc.pre(!listed || event.actor.type !== 'user' || event.actor.id === SELF.id);
          const verdict = judgeGate(policy, event, SELF, a);
          expect(judgeGate(policy, { ...event, text }, SELF, b)).toEqual(verdict);
          expect(verdict.class).not.toBe('explicit');
        },
      ),
      { numRuns: 2_000, maxSkipsPerRun: 1_000 },
    );
  });

  it('a lower ceiling never gives a higher class', async () => {
    await fc.assert(
      fc.property(fc.tuple(somePolicy, someEvent), ([policy, event]) => {
        const classes = (['ignore', 'inferred', 'explicit'] as const).map((ceiling) => {
          const admission = [{ sourceId: event.sourceId, scope: event.scope, ceiling }];
          return judgeGate({ ...policy, policy: { ...policy.policy, admission } }, event, SELF, true).class;
        });
        const heights = classes.map((one) => CLASSES.length - CLASSES.indexOf(one));
        expect(heights).toEqual(heights.toSorted((x, y) => x - y));
      }),
    );
  });
});
