import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDecisions } from '../../../lib/router/assess/decisions.ts';
import { rule } from '../../../lib/router/assess/rule.ts';
import { covers, VERBS } from '../../../lib/router/mandate/mandate.ts';
import { MODES } from '../../../lib/router/policy/policy.ts';
import type { Trigger } from '../../../lib/router/thread/trigger.ts';
import type { Ticket } from '../../../lib/router/ticket/ticket.ts';
import { ADA, POLICY, REPOSITORY, SOURCE, STRANGER } from '../support/team.ts';

const trigger = (kind: Trigger['gate']['class'], actor = ADA) =>
  ({
    id: 'trg_1',
    threadId: 'thr_1',
    sourceId: SOURCE,
    scope: 'issue_comment',
    actor: { id: actor, type: 'user' },
    repositoryId: REPOSITORY,
    gate: { class: kind, row: 'x', reason: 'y', policyVersion: 1 },
  }) as Trigger;

const place = (threadId: string) => ({ threadId, sourceId: SOURCE, replyTo: { thread: 'x' } });
const tickets = new Map<string, Ticket>([
  ['tkt_1', { id: 'tkt_1', threads: [place('thr_1')] } as unknown as Ticket],
  ['tkt_3', { id: 'tkt_3', threads: [place('thr_2')] } as unknown as Ticket],
]);
const judged = (kind: Trigger['gate']['class'], mode: (typeof MODES)[number] = 'auto') => ({
  trigger: trigger(kind, kind === 'explicit' ? ADA : STRANGER),
  policy: { version: 1, policy: { ...POLICY, mode } },
  threadTitle: 'Issue 1',
  tickets,
});
const proposal = (more: object) => {
  const read = readDecisions(JSON.stringify({ decisions: [{ triggerId: 'trg_1', reason: 'r', ...more }] }), false);
  if (!read.ok || read.proposals[0] === undefined) throw new Error('It does not fit.');
  return read.proposals[0];
};

const proposals = fc.record({
  triggerId: fc.constant('trg_1'),
  decision: fc.constantFrom('accept', 'join', 'answer', 'ignore', 'stop'),
  ticketId: fc.option(fc.constantFrom('tkt_1', 'tkt_2')),
  ruleId: fc.option(fc.constantFrom('bugs', 'made up')),
  reason: fc.constant('r'),
  title: fc.option(fc.constant('t')),
  reply: fc.option(fc.constant('words')),
  mandate: fc.option(
    fc.record({
      verb: fc.constantFrom(...VERBS),
      repositoryId: fc.option(fc.constantFrom(REPOSITORY, 'another')),
      paths: fc.option(fc.array(fc.constantFrom('**', 'docs/**'))),
      labels: fc.option(fc.array(fc.string())),
    }),
  ),
});

describe('a proposal', () => {
  it('gets no further than the grant, whatever it says', () => {
    fc.assert(
      fc.property(proposals, fc.constantFrom('explicit', 'inferred'), (given, kind) => {
        const ruling = rule(proposal(given), judged(kind));
        if (typeof ruling === 'string' || ruling.do !== 'accept') return;
        expect(covers(kind === 'explicit' ? 'pr' : 'comment', ruling.mandate.verb)).toBe(true);
        expect([REPOSITORY, undefined]).toContain(ruling.mandate.repositoryId);
        expect(ruling.grantedBy).toBe(kind === 'explicit' ? `${SOURCE}:${ADA}` : 'rule:bugs');
      }),
    );
  });

  it('about what nobody listed asked joins nothing, stops nothing, and acts only by a rule and in the mode auto', () => {
    fc.assert(
      fc.property(proposals, fc.constantFrom(...MODES), (given, mode) => {
        const ruling = rule(proposal(given), judged('inferred', mode));
        if (typeof ruling === 'string' || ruling.do === 'ignore') return;
        expect(['accept', 'answer']).toContain(ruling.do);
        expect([mode, ruling.ruleId]).toEqual(['auto', 'bugs']);
      }),
    );
  });

  it('joins a ticket of the page and no other', () => {
    expect(rule(proposal({ decision: 'join', ticketId: 'tkt_1' }), judged('explicit'))).toMatchObject({ do: 'join' });
    expect(rule(proposal({ decision: 'join', ticketId: 'tkt_2' }), judged('explicit'))).toMatch(
      /no ticket that can be meant/,
    );
    expect(rule(proposal({ decision: 'join' }), judged('explicit'))).toMatch(/is missing/);
    expect(rule(proposal({ decision: 'stop', ticketId: 'tkt_1' }), judged('explicit'))).toMatchObject({ do: 'stop' });
    expect(rule(proposal({ decision: 'stop', ticketId: 'tkt_3' }), judged('explicit'))).toMatch(/no ticket that/);
    expect(rule(proposal({ decision: 'stop', ticketId: 'tkt_2' }), judged('explicit'))).toMatch(
      /no ticket that can be meant/,
    );
  });

  it('names no rule that the team has not written', () => {
    expect(rule(proposal({ decision: 'accept', ruleId: 'made up' }), judged('inferred'))).toMatch(/needs the ruleId/);
  });
});

describe('a reply', () => {
  const one = '{"decisions":[{"triggerId":"t","decision":"ignore","reason":"r","ticketId":null}]}';
  it.each([
    ['bare', one],
    ['fenced', `\`\`\`json\n${one}\n\`\`\``],
    ['in words', `Here it is: ${one} I hope it helps.`],
  ])('is read %s', (_how, text) => {
    expect(readDecisions(text, false)).toEqual({
      ok: true,
      proposals: [{ triggerId: 't', decision: 'ignore', reason: 'r' }],
    });
  });

  it('names what does not fit, or leaves it out where there is no time to mend it', () => {
    const text = JSON.stringify({
      decisions: [JSON.parse(one).decisions[0], { triggerId: 't', decision: 'destroy', reason: 'r' }],
    });
    expect(readDecisions(text, false)).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/^decisions\[1\]\.decision/),
    });
    expect(readDecisions(text, true)).toMatchObject({ ok: true, proposals: [{ decision: 'ignore' }] });
    expect(readDecisions('no', true)).toMatchObject({ ok: false });
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), fc.boolean(), (text, lenient) => void readDecisions(text, lenient)));
    fc.assert(fc.property(fc.json(), (text) => void readDecisions(text, true)));
  });
});
