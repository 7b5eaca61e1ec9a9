import { describe, expect, test } from 'vitest';
import { checkPattern, matches } from '../../../local/events/pattern.ts';

const event = {
  source: 'baton',
  'detail-type': 'Execution Status Changed',
  resources: ['arn:a', 'arn:b'],
  detail: { status: 'COMPLETED', seq: 3, nested: { ok: true, gone: null } },
};

test.each([
  [{ source: ['baton'] }, true],
  [{ source: ['other', 'baton'] }, true],
  [{ source: ['Baton'] }, false],
  [{ source: [{ 'equals-ignore-case': 'BATON' }] }, true],
  [{ source: ['baton'], 'detail-type': ['Run Agent'] }, false],
  [{ detail: { status: [{ prefix: 'COMP' }], seq: [3] } }, true],
  [{ detail: { seq: ['3'] } }, false],
  [{ detail: { status: [{ suffix: 'TED' }] } }, true],
  [{ detail: { status: [{ 'anything-but': 'FAILED' }] } }, true],
  [{ detail: { status: [{ 'anything-but': ['FAILED', 'COMPLETED'] }] } }, false],
  [{ detail: { status: [{ 'anything-but': { prefix: 'COMP' } }] } }, false],
  [{ detail: { missing: [{ 'anything-but': 'x' }] } }, false],
  [{ detail: { missing: [{ exists: false }] } }, true],
  [{ detail: { status: [{ exists: true }] } }, true],
  [{ detail: { missing: { deeper: [{ exists: false }] } } }, true],
  [{ detail: { nested: { ok: [true], gone: [null] } } }, true],
  [{ detail: { missing: [null] } }, false],
  [{ resources: ['arn:b'] }, true],
  [{ resources: ['arn:c'] }, false],
  [{ $or: [{ source: ['x'] }, { detail: { seq: [3] } }] }, true],
  [{}, true],
])('%j matches: %s', (pattern, expected) => {
  checkPattern(pattern);
  expect(matches(pattern, event)).toBe(expected);
});

describe('a test that is not played is refused before any event comes', () => {
  test.each([
    [{ detail: { seq: [{ numeric: ['>', 2] }] } }, 'numeric'],
    [{ detail: { ip: [{ cidr: '10.0.0.0/8' }] } }, 'cidr'],
    [{ source: ['a'], detail: { x: [{ 'anything-but': { wildcard: '*' } }] } }, 'wildcard'],
    [{ source: 'baton' }, 'must be a list'],
  ])('%j', (pattern, message) => {
    expect(() => checkPattern(pattern)).toThrow(message);
  });
});
