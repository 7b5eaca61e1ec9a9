import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { edgeOf, edgesOf, labelOf, labelsOf, plainLabel } from '../../lib/workflow/edges.ts';
import { always } from './always.ts';
import { withSteps } from './definitions.ts';

const stepWith = (next: object) => {
  const step = withSteps({ ask: { kind: 'CONDITION', question: 'x', next } }).steps.ask;
  if (step === undefined) throw new Error('no step');
  return step;
};

const asked = stepWith({ YES: 'a', 'Not now': 'b', NO: 'c', default: 'd' });

describe('an edge', () => {
  it.each([
    ['YES', 'a'],
    ['yes', 'a'],
    [' Yes. ', 'a'],
    ['"Yes"', 'a'],
    ["'yes!'", 'a'],
    ['**YES**', 'a'],
    ['(yes)', 'a'],
    ['`yes`;', 'a'],
    ['[YES]', 'a'],
    ['not  now', 'b'],
    ['Not\nnow,', 'b'],
    ['NO?', 'c'],
    ['yes, sir', 'd'],
    ['', 'd'],
    ['default', 'd'],
    ['constructor', 'd'],
    [`yes${' '.repeat(500)}no`, 'a'],
  ])('is found for %j', (label, target) => {
    expect(edgeOf(asked, label)).toBe(target);
  });

  it('is none without default, and at an END', () => {
    const bare = stepWith({ one: 'a', two: 'b' });
    expect(edgeOf(bare, 'three')).toBeUndefined();
    expect(edgeOf(bare, 'default')).toBeUndefined();
    expect(edgeOf({ kind: 'END' }, 'default')).toBeUndefined();
    expect(edgesOf({ kind: 'END' })).toEqual([]);
  });

  it('prefers the label to default, however default is written', () => {
    const step = stepWith({ Default: 'd', one: 'a', two: 'b' });
    expect(edgeOf(step, 'ONE')).toBe('a');
    expect(edgeOf(step, 'three')).toBe('d');
    expect(labelsOf(step)).toEqual(['one', 'two']);
  });

  it('tells labels as they are written, default aside', () => {
    expect(labelsOf(asked)).toEqual(['YES', 'Not now', 'NO']);
    expect(labelOf(asked, 'not now.')).toBe('Not now');
    expect(labelOf(asked, 'default')).toBeUndefined();
  });
});

describe('the plain form', () => {
  it('is its own plain form, and never slow', () => {
    always(
      fc.property(fc.string({ maxLength: 300 }), (text) => {
        const plain = plainLabel(text);
        expect(plainLabel(plain)).toBe(plain);
      }),
    );
    const before = performance.now();
    for (const text of ['"'.repeat(1e6), `a${' '.repeat(1e6)}b`, `a${'.'.repeat(1e6)}b`]) plainLabel(text);
    expect(performance.now() - before).toBeLessThan(500);
  });
});
