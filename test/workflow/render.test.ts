import { describe, expect, it } from 'vitest';
import { bracedNames, type PromptValues, render } from '../../lib/workflow/render.ts';

const values = (given: Partial<PromptValues> = {}): PromptValues => ({
  goals: ['find', 'write'],
  instructions: [],
  constraints: ['be quick'],
  pending: [],
  completed: [],
  ...given,
});

describe('a prompt', () => {
  it('gets lists with numbers, texts as they are, (none) where there is nothing', () => {
    const template = '{goals}|{instructions}|{constraints}|{task}|{pending}|{completed}|{last}';
    expect(render(template, values({ task: 'do it', last: 'done', pending: ['a', 'b'] }))).toBe(
      '1. find\n2. write|(none)|1. be quick|do it|1. a\n2. b|(none)|done',
    );
    expect(render('{task} {last}', values({ task: '  ', last: '' }))).toBe('(none) (none)');
  });

  it('leaves all other braces alone, and {{word}} is {word}', () => {
    const template = '{"a": {"b": [1]}} {unknown} {{goals}} { goals } {} {{}} {a-b}';
    expect(render(template, values())).toBe('{"a": {"b": [1]}} {unknown} {goals} { goals } {} {{}} {a-b}');
    expect(bracedNames(template)).toEqual(['unknown']);
  });

  it('does not look for placeholders in what it puts in, nor for patterns', () => {
    expect(render('{task}', values({ task: '{goals} $& $1 {{last}}' }))).toBe('{goals} $& $1 {{last}}');
  });

  it('keeps the beginning and the end of a long result', () => {
    const text = render('{last}', values({ last: `first ${'x'.repeat(100_000)} last` }));
    expect(text.length).toBeLessThan(8_100);
    expect(text).toMatch(/^first x+\n\[… 92011 characters left out …\]\nx+ last$/);
  });

  it('keeps the next of many tasks and the latest of many done', () => {
    const many = Array.from({ length: 120 }, (_, i) => `task ${i}\nin two lines`);
    const pending = render('{pending}', values({ pending: many }));
    expect(pending).toContain('1. task 0 in two lines\n');
    expect(pending).toContain('… and 70 more');
    expect(pending).not.toContain('task 50 ');
    const completed = render('{completed}', values({ completed: many }));
    expect(completed).toMatch(/^\(70 earlier ones are left out\)\n1\. task 70 /);
    expect(completed).toContain('50. task 119 ');
    expect(render('{pending}', values({ pending: ['x'.repeat(10_000)] })).length).toBeLessThan(520);
  });
});
