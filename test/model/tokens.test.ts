import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateMessage, estimatePrompt, estimateTokens, mostPromptTokens } from '../../lib/model/tokens.ts';

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

describe('mostPromptTokens', () => {
  const of = (content: string): number =>
    mostPromptTokens({ messages: [{ role: 'user', content }], tools: [] }) -
    mostPromptTokens({ messages: [{ role: 'user', content: '' }], tools: [] });

  // A tokenizer that works on bytes makes a token of each at worst; emoji are several code points of four bytes each.
  it.each([
    ['words of English', 16],
    ['1234567890', 10],
    ['語', 3],
    ['語'.repeat(99_000), 297_000],
    ['😀', 4],
    ['👩‍👩‍👧‍👦', 25],
    ['\ud83d', 3],
    ['größer', 8],
  ])('counts each byte: %#', (text, tokens) => expect(of(text)).toBe(tokens));

  it('is never below the estimate, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.string(), (text, id) => {
        const toolCalls = [{ id, name: 'think', arguments: text }];
        const messages = [
          { role: 'assistant' as const, content: text, toolCalls },
          { role: 'tool' as const, content: text, toolCallId: id },
        ];
        const tools = [{ name: 't', description: text, parameters: { type: 'object' } }];
        const most = mostPromptTokens({ messages, tools });
        expect(most).toBeGreaterThanOrEqual(estimatePrompt(messages, tools));
        expect(most).toBeGreaterThanOrEqual(4 * Buffer.byteLength(text));
        const responseSchema = { name: 'form', schema: { title: text } };
        expect(mostPromptTokens({ messages, tools, responseSchema })).toBeGreaterThanOrEqual(
          most + Buffer.byteLength(text),
        );
      }),
    );
  });
});
