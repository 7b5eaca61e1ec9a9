import { describe, expect, it } from 'vitest';
import { checkPolicy } from '../../../lib/router/policy/check-policy.ts';
import { NEW_POLICY, type Policy } from '../../../lib/router/policy/policy.ts';
import type { Source } from '../../../lib/router/source/source.ts';
import { ALICE, SELF, SOURCE } from '../support/policies.ts';

const source: Source = {
  id: SOURCE,
  orgId: 'org_a',
  kind: 'github',
  name: 'github',
  state: 'active',
  self: SELF,
  signsInBy: 'app',
  secretRef: 's',
  createdAt: '2026-11-30T00:00:00.000Z',
  updatedAt: '2026-11-30T00:00:00.000Z',
};
const errorsOf = (given: Partial<Policy>) =>
  checkPolicy({ ...NEW_POLICY, ...given }, { sources: new Map([[SOURCE, source]]), tools: ['think', 'http_request'] });
const fieldsOf = (given: Partial<Policy>) => errorsOf(given).map(({ field }) => field);
const grant = { sourceId: SOURCE, scope: '*', maxVerb: 'pr' as const };

describe('a policy that fits together', () => {
  it('has nothing to be said against it', () => {
    expect(errorsOf({})).toEqual([]);
    expect(
      errorsOf({
        allow: [{ sourceId: SOURCE, actorId: ALICE }],
        admission: [
          { sourceId: SOURCE, scope: '*', ceiling: 'inferred' },
          { sourceId: SOURCE, scope: 'issues', ceiling: 'explicit' },
          { sourceId: 'internal', scope: 'ticket_phase', ceiling: 'inferred' },
        ],
        grants: [grant, { ...grant, actorId: ALICE }, { ...grant, ruleId: 'flaky', paths: ['src/**', '*.md'] }],
        rules: [{ id: 'flaky', text: 'A test that fails now and then.' }],
      }),
    ).toEqual([]);
  });
});

describe('I1: the agent itself', () => {
  it('cannot be listed', () => {
    const [error] = errorsOf({ allow: [{ sourceId: SOURCE, actorId: SELF.id }] });
    expect(error).toMatchObject({ field: 'allow[0].actorId', received: `"${SELF.id}", which is the agent itself` });
  });
});

describe('what does not fit is named', () => {
  it.each<[string, Partial<Policy>, readonly string[]]>([
    ['an unknown tool', { worker: { tools: ['think', 'thonk'] } }, ['worker.tools[1]']],
    ['an unknown source', { allow: [{ sourceId: 'src_x', actorId: '1' }] }, ['allow[0].sourceId']],
    ['nobody of the internal source', { allow: [{ sourceId: 'internal', actorId: '1' }] }, ['allow[0].sourceId']],
    [
      'an unknown source of a row',
      { admission: [{ sourceId: 'src_x', scope: '*', ceiling: 'explicit' }] },
      ['admission[0].sourceId'],
    ],
    ['an unknown source of a grant', { grants: [{ ...grant, sourceId: 'src_x' }] }, ['grants[0].sourceId']],
    ['an unknown rule of a grant', { grants: [{ ...grant, ruleId: 'nope' }] }, ['grants[0].ruleId']],
    [
      'a grant to a person and a rule',
      { grants: [{ ...grant, actorId: ALICE, ruleId: 'r' }], rules: [{ id: 'r', text: 't' }] },
      ['grants[0]'],
    ],
    [
      'a path that is no glob',
      { grants: [{ ...grant, paths: ['ok', '../up', '[ab]'] }] },
      ['grants[0].paths[1]', 'grants[0].paths[2]'],
    ],
    [
      'a row twice',
      {
        admission: [
          { sourceId: SOURCE, scope: '*', ceiling: 'ignore' },
          { sourceId: SOURCE, scope: '*', ceiling: 'explicit' },
        ],
      },
      ['admission[1]'],
    ],
    [
      'a person twice',
      {
        allow: [
          { sourceId: SOURCE, actorId: ALICE },
          { sourceId: SOURCE, actorId: ALICE, note: 'again' },
        ],
      },
      ['allow[1]'],
    ],
    ['a grant twice', { grants: [grant, { ...grant, maxVerb: 'read' }] }, ['grants[1]']],
    [
      'a rule twice',
      {
        rules: [
          { id: 'a', text: 'x' },
          { id: 'a', text: 'y' },
        ],
      },
      ['rules[1]'],
    ],
  ])('%s', (_, given, fields) => {
    expect(fieldsOf(given)).toEqual(fields);
  });

  it('more than a row can hold', () => {
    const rules = Array.from({ length: 60 }, (_, i) => ({ id: `r${i}`, text: '好'.repeat(1_200) }));
    expect(fieldsOf({ rules })).toEqual(['body']);
  });
});
