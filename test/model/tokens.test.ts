import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateMessage, estimatePrompt, estimateTokens } from '../../lib/model/tokens.ts';

describe('estimateTokens', () => {
  it.each([
    ['', 0],
    ['a', 1],
    ['four', 1],
    ['fives', 2],
    ['日本語', 3],
    ['é', 1],
    ['😀', 1],
    ['ab日', 2],
    ['abcd日', 2],
  ])('of %j is %i', (text, tokens) => expect(estimateTokens(text)).toBe(tokens));

  it('never shrinks when text is added, and joins to no more than its parts', () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const whole = estimateTokens(a + b);
        return whole >= estimateTokens(a) && whole <= estimateTokens(a) + estimateTokens(b);
      }),
    );
  });
});

describe('messages and prompts', () => {
  it('count an overhead, the tool calls and the tools', () => {
    expect(estimateMessage({ role: 'user', content: 'four' })).toBe(5);
    const toolCalls = [{ id: 'x', name: 'four', arguments: '{"a":12}' }];
    expect(estimateMessage({ role: 'assistant', content: '', toolCalls })).toBe(4 + 4 + 1 + 2);
    const tool = { name: 'n', description: 'd', parameters: {} };
    const json = JSON.stringify(tool);
    expect(estimatePrompt([{ role: 'user', content: 'four' }], [tool])).toBe(5 + 4 + Math.ceil(json.length / 4));
    expect(estimatePrompt([], [])).toBe(0);
  });
});
