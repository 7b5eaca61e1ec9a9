/** What the corpus of attacks comes to where code decides alone: gate, mandate, what is legible, what stands in a frame. */
import { describe, expect, it } from 'vitest';
import { judgeGate } from '../../../lib/router/gate/judge-gate.ts';
import { namesHandle } from '../../../lib/router/gate/mentions.ts';
import { cutMandate } from '../../../lib/router/mandate/cut-mandate.ts';
import { type Grant, grantFor } from '../../../lib/router/mandate/grants.ts';
import { covers, type MandateScope } from '../../../lib/router/mandate/mandate.ts';
import { allowsPath } from '../../../lib/router/mandate/permits.ts';
import { framed, newMark } from '../../../lib/router/untrusted/frame.ts';
import { legible } from '../../../lib/router/untrusted/legible.ts';
import { ATTACKS, titledAttacks } from '../support/injections.ts';
import { ALICE, eventOf, policyOf, SELF, SOURCE, STRANGER } from '../support/policies.ts';

const REPO = '900000001';
const grants: Grant[] = [
  { sourceId: SOURCE, scope: 'issue_comment', actorId: ALICE, maxVerb: 'pr', paths: ['docs/**'], labels: ['docs'] },
];

it('every attack has a name of its own', () => {
  expect(new Set(ATTACKS.map(({ id }) => id)).size).toBe(ATTACKS.length);
  expect(ATTACKS.length).toBeGreaterThan(70);
});

describe.each(titledAttacks)('%s', (_, { text, names, payload, legible: seen, wants }) => {
  it('names us only in its own words', () => {
    expect(namesHandle(text, 'team-agent')).toBe(names);
  });

  it('makes no stranger, bot or app explicit, and stops nothing of them', () => {
    for (const actor of [
      { id: STRANGER, type: 'user' as const, association: 'OWNER' },
      { id: ALICE, type: 'bot' as const },
      { id: ALICE, type: 'app' as const },
      { id: ALICE, type: 'anonymous' as const },
    ]) {
      const verdict = judgeGate(policyOf(), eventOf({ actor, text }), SELF, true);
      expect(verdict.class).toBe('inferred');
      expect(verdict).not.toHaveProperty('stop');
    }
  });

  it('widens no mandate, whoever brings it and whatever a model makes of it', () => {
    const proposal = wants.mandate as MandateScope | undefined;
    const none = cutMandate(proposal, grantFor({ grants }, { sourceId: SOURCE, scope: 'issue_comment' }), {
      repositoryId: REPO,
    });
    expect(covers('comment', none.verb)).toBe(true);
    const asking = { sourceId: SOURCE, scope: 'issue_comment', actorId: ALICE };
    const cut = cutMandate(proposal, grantFor({ grants }, asking), { repositoryId: REPO });
    expect(covers('pr', cut.verb)).toBe(true);
    expect([REPO, undefined]).toContain(cut.repositoryId);
    for (const path of ['src/a.ts', '.github/workflows/deploy.yml', '../x']) expect(allowsPath(cut, path)).toBe(false);
    expect((cut.labels ?? []).filter((label) => label !== 'docs')).toEqual([]);
  });

  it('is read as far as people see it', () => {
    const read = legible(text);
    if (payload !== undefined) expect(read.text.includes(payload)).toBe(seen);
    if (payload !== undefined && seen === false) expect(read.hidden).toBe(true);
    expect(legible(read.text).text).toBe(read.text);
  });

  it('stays in its frame', () => {
    const mark = newMark();
    const lines = framed(mark, legible(text).text).split('\n');
    expect(lines[0]).toBe(`⟦${mark}`);
    expect(lines.at(-1)).toBe(`${mark}⟧`);
    const inside = lines.slice(1, -1).join('\n');
    expect(inside).not.toMatch(/[⟦⟧]|<[|｜][\w ▁-]+[|｜]>|<\/?(start|end)_of_turn>|\[\/?INST\]/);
    expect(inside).not.toContain(mark);
  });
});
