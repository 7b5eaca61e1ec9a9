import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutMandate } from '../../../lib/router/mandate/cut-mandate.ts';
import { askingOf, type Grant, grantFor } from '../../../lib/router/mandate/grants.ts';
import { covers, type MandateScope, VERBS, type Verb } from '../../../lib/router/mandate/mandate.ts';
import { allowsLabel, allowsPath } from '../../../lib/router/mandate/permits.ts';
import { ALICE, SOURCE, STRANGER, someGrant, someRepository, someScopeOfMandate } from '../support/policies.ts';

const REPO = '900000001';
const OTHER = '900000002';
const grant = (given: Partial<Grant> = {}): Grant => ({ sourceId: SOURCE, scope: '*', maxVerb: 'pr', ...given });
const asked = { repositoryId: REPO };

describe('a mandate is what was proposed, cut to what was granted', () => {
  it.each<[Verb | undefined, Verb | undefined, Verb]>([
    ['pr', 'pr', 'pr'],
    ['merge-guarded', 'pr', 'pr'],
    ['read', 'pr', 'read'],
    ['pr', 'read', 'read'],
    ['merge-guarded', undefined, 'comment'],
    ['read', undefined, 'read'],
    [undefined, 'pr', 'comment'],
    [undefined, 'read', 'read'],
    [undefined, undefined, 'comment'],
  ])('proposed %s, granted %s: %s', (proposed, maxVerb, verb) => {
    const proposal = proposed && { verb: proposed };
    expect(cutMandate(proposal, maxVerb && grant({ maxVerb }), asked)).toEqual({ verb, repositoryId: REPO });
  });

  it('reaches into another repository only where the grant names it', () => {
    const proposal: MandateScope = { verb: 'pr', repositoryId: OTHER };
    expect(cutMandate(proposal, grant(), asked)).toEqual({ verb: 'comment' });
    expect(cutMandate(proposal, undefined, asked)).toEqual({ verb: 'comment' });
    expect(cutMandate(proposal, grant({ repositoryIds: [REPO] }), asked)).toEqual({ verb: 'comment' });
    expect(cutMandate(proposal, grant({ repositoryIds: [OTHER] }), asked)).toEqual({ verb: 'pr', repositoryId: OTHER });
    expect(cutMandate({ verb: 'pr' }, grant({ repositoryIds: [OTHER] }), asked)).toEqual({ verb: 'comment' });
  });

  it('leaves nothing beyond an answer where there is no repository', () => {
    expect(cutMandate({ verb: 'pr' }, grant(), {})).toEqual({ verb: 'comment' });
    expect(cutMandate({ verb: 'pr' }, grant({ repositoryIds: [] }), asked)).toEqual({ verb: 'comment' });
    expect(cutMandate({ verb: 'pr', repositoryId: REPO }, grant({ repositoryIds: [REPO] }), {})).toEqual({
      verb: 'pr',
      repositoryId: REPO,
    });
  });

  it('keeps the paths and labels that both allow', () => {
    const cut = (paths: string[] | undefined, granted: string[] | undefined) =>
      cutMandate({ verb: 'pr', ...(paths && { paths }) }, grant({ ...(granted && { paths: granted }) }), asked).paths;
    expect(cut(undefined, undefined)).toBeUndefined();
    expect(cut(['docs/**'], undefined)).toEqual(['docs/**']);
    expect(cut(undefined, ['docs/**'])).toEqual(['docs/**']);
    expect(cut(['docs/a.md', 'src/**'], ['docs/**'])).toEqual(['docs/a.md']);
    expect(cut(['**'], ['docs/**', '*.md'])).toEqual(['docs/**', '*.md']);
    expect(cut(['src/**'], ['docs/**'])).toEqual([]);
    expect(cut(['../**', '/etc/**'], undefined)).toEqual([]);
    const labels = cutMandate({ verb: 'pr', labels: ['bug', 'ci'] }, grant({ labels: ['ci', 'x'] }), asked).labels;
    expect(labels).toEqual(['ci']);
  });

  it('nothing allowed is not the same as everything allowed', () => {
    const none = cutMandate({ verb: 'pr', paths: ['src/**'] }, grant({ paths: ['docs/**'] }), asked);
    expect(allowsPath(none, 'src/a')).toBe(false);
    expect(allowsPath(none, 'docs/a')).toBe(false);
    expect(allowsPath(cutMandate({ verb: 'pr' }, grant(), asked), 'src/a')).toBe(true);
    expect(allowsLabel(cutMandate({ verb: 'pr', labels: ['a'] }, grant({ labels: ['b'] }), asked), 'a')).toBe(false);
  });
});

describe('no proposal can widen a mandate', () => {
  const path = fc.constantFrom('src/a.ts', 'docs/x.md', 'a', 'ab/c', 'src', 'a/b/c', 'x1y', '../a', '/a', 'src/../a');
  const label = fc.constantFrom('bug', 'docs', 'Bug', 'ci', 'other');
  const cases = fc.tuple(
    fc.option(someScopeOfMandate, { nil: undefined }),
    fc.option(someGrant, { nil: undefined }),
    fc.option(someRepository, { nil: undefined }),
  );

  it('beyond the grant, or beyond itself', async () => {
    await fc.assert(
      fc.property(cases, path, label, ([proposal, granted, repositoryId], onePath, oneLabel) => {
        const cut = cutMandate(proposal, granted, { repositoryId });
        expect(covers(granted?.maxVerb ?? 'comment', cut.verb)).toBe(true);
        expect(covers(proposal?.verb ?? 'comment', cut.verb)).toBe(true);
        if (cut.repositoryId !== undefined) {
          expect(granted?.repositoryIds ?? [repositoryId]).toContain(cut.repositoryId);
          expect(cut.repositoryId).toBe(proposal?.repositoryId ?? repositoryId);
        } else expect(covers('comment', cut.verb)).toBe(true);
        if (allowsPath(cut, onePath)) {
          expect(allowsPath({ paths: granted?.paths }, onePath)).toBe(true);
          expect(allowsPath({ paths: proposal?.paths }, onePath)).toBe(true);
        }
        if (allowsLabel(cut, oneLabel)) {
          expect(allowsLabel({ labels: granted?.labels }, oneLabel)).toBe(true);
          expect(allowsLabel({ labels: proposal?.labels }, oneLabel)).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('and cutting twice is cutting once', async () => {
    await fc.assert(
      fc.property(cases, ([proposal, granted, repositoryId]) => {
        const cut = cutMandate(proposal, granted, { repositoryId });
        const again = cutMandate(cut, granted, { repositoryId });
        expect(VERBS.indexOf(again.verb)).toBeLessThanOrEqual(VERBS.indexOf(cut.verb));
        if (cut.repositoryId !== undefined) expect(again).toEqual(cut);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the grant that counts', () => {
  const grants = [
    grant({ maxVerb: 'comment' }),
    grant({ scope: 'issues', maxVerb: 'branch' }),
    grant({ actorId: ALICE, maxVerb: 'pr' }),
    grant({ ruleId: 'flaky', maxVerb: 'review' }),
    grant({ actorId: ALICE, scope: 'issues', maxVerb: 'merge-guarded' }),
    grant({ sourceId: 'src_other', maxVerb: 'merge-guarded' }),
  ];
  const verb = (asking: { scope: string; actorId?: string; ruleId?: string }) =>
    grantFor({ grants }, { sourceId: SOURCE, ...asking })?.maxVerb;

  it('is the closest one: who before where', () => {
    expect(verb({ scope: 'push' })).toBe('comment');
    expect(verb({ scope: 'issues' })).toBe('branch');
    expect(verb({ scope: 'issues', actorId: STRANGER })).toBe('branch');
    expect(verb({ scope: 'push', actorId: ALICE })).toBe('pr');
    expect(verb({ scope: 'issues', actorId: ALICE })).toBe('merge-guarded');
    expect(verb({ scope: 'issues', ruleId: 'flaky' })).toBe('review');
    expect(verb({ scope: 'issues', ruleId: 'other' })).toBe('branch');
    expect(grantFor({ grants }, { sourceId: 'src_none', scope: 'issues', actorId: ALICE })).toBeUndefined();
  });

  it("a rule borrows nobody's grant, and a person no rule's", () => {
    const trigger = {
      sourceId: SOURCE,
      scope: 'issues',
      actor: { id: ALICE, type: 'user' as const },
      gate: { class: 'inferred' as const, row: 'author', reason: '', policyVersion: 1 },
    };
    expect(grantFor({ grants }, askingOf(trigger, undefined))?.maxVerb).toBe('branch');
    expect(grantFor({ grants }, askingOf(trigger, 'flaky'))?.maxVerb).toBe('review');
    const explicit = { ...trigger, gate: { ...trigger.gate, class: 'explicit' as const } };
    expect(askingOf(explicit, 'flaky')).toEqual({ sourceId: SOURCE, scope: 'issues', actorId: ALICE });
  });
});
