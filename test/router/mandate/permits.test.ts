import { expect, it } from 'vitest';
import type { Mandate } from '../../../lib/router/mandate/mandate.ts';
import { refusal } from '../../../lib/router/mandate/permits.ts';

const mandate: Mandate = {
  id: 'mdt_1',
  state: 'active',
  verb: 'pr',
  repositoryId: 'r',
  paths: ['docs/**'],
  labels: ['bug'],
  grantedBy: 'src:1',
  policyVersion: 1,
};

it('I8: what the mandate allows passes', () => {
  expect(refusal(mandate, { verb: 'comment' })).toBeUndefined();
  const wanted = { verb: 'pr', repositoryId: 'r', paths: ['docs/a.md'], labels: ['bug'] } as const;
  expect(refusal(mandate, wanted)).toBeUndefined();
});

it.each([
  ['a verb beyond it', { verb: 'review' }, 'up to pr'],
  ['another repository', { verb: 'read', repositoryId: 'q' }, 'another repository'],
  ['a path outside of it', { verb: 'pr', paths: ['docs/a.md', 'src/a.ts'] }, 'src/a.ts'],
  ['a path that leads out of it', { verb: 'pr', paths: ['docs/../src/a.ts'] }, 'docs/../src/a.ts'],
  ['a label it does not list', { verb: 'pr', labels: ['Bug'] }, 'Bug'],
] as const)('I8: %s is refused', (_, wanted, words) => {
  expect(refusal(mandate, wanted)).toContain(words);
});

it('I9: a revoked mandate allows nothing', () => {
  expect(refusal({ ...mandate, state: 'revoked' }, { verb: 'read' })).toBe('The mandate is revoked.');
});

it('a mandate without a repository reaches none', () => {
  expect(refusal({ state: 'active', verb: 'comment' }, { verb: 'read', repositoryId: 'r' })).toContain('no repository');
});
