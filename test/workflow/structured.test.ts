import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { choiceOutput, readChoice, readTasks, tasksOutput } from '../../lib/workflow/structured.ts';
import { always } from './always.ts';

const tasks = (reply: string, most?: number) => {
  const read = readTasks(reply, most);
  return read.ok ? read.value : read.problem;
};
const choice = (reply: string, labels: readonly string[] = ['YES', 'NO', 'No answer']) => {
  const read = readChoice(reply, labels);
  return read.ok ? read.value : read.problem;
};

describe('tasks', () => {
  it.each([
    '{"tasks": ["one", "two"]}',
    '["one", "two"]',
    '```json\n{"tasks": ["one", "two"]}\n```',
    '```\n["one", "two"]\n```',
    'Here they are:\n["one", "two"]\nThat is all.',
    'Sure! {"tasks": ["one", "two"]} Good luck.',
    '{"steps": ["one", "two"]}',
    '{"tasks": [{"task": "one"}, {"id": 2, "title": "two"}]}',
    '  {"tasks": [" one ", "", "two", "  "]}  ',
    '{"tasks": ["one", "two"], "null": null, "true": true}',
  ])('are read from %j', (reply) => {
    expect(tasks(reply)).toEqual(['one', 'two']);
  });

  it.each(['[]', '{"tasks": []}', '{"tasks": ["  "]}'])('may be none: %s', (reply) => {
    expect(tasks(reply)).toEqual([]);
  });

  it.each([
    ['', /no JSON/],
    ['1. one\n2. two', /no JSON/],
    ['{"tasks": "one"}', /no list/],
    ['{"a": ["one"], "b": ["two"]}', /no list/],
    ['"one"', /no list/],
    ['[1, 2]', /Entry 1/],
    ['["one", {"n": 2}]', /Entry 2/],
    ['["one", "two"', /no JSON/],
  ])('are not read from %j, and a sentence says what to send', (reply, problem) => {
    expect(tasks(reply)).toMatch(problem);
    expect(tasks(reply)).toContain('{"tasks": [');
  });

  it('keep their order, are as many as allowed, and not too long', () => {
    expect(tasks('["a", "b", "c"]', 2)).toEqual(['a', 'b']);
    expect(tasks('["", "b", "c"]', 1)).toEqual(['b']);
    expect(tasks(JSON.stringify(Array.from({ length: 300 }, (_, i) => `${i}`)), 1_000)).toHaveLength(100);
    expect(tasks(JSON.stringify(['x'.repeat(5_000)]))).toEqual(['x'.repeat(2_000)]);
  });
});

describe('a choice', () => {
  it.each([
    ['{"label": "YES"}', 'YES'],
    ['{"label": "yes."}', 'YES'],
    ['{"choice": "No"}', 'NO'],
    ['{"label": true}', 'YES'],
    ['["NO"]', 'NO'],
    ['"yes"', 'YES'],
    ['Yes.', 'YES'],
    ['**No**', 'NO'],
    ['```json\n{"label": "NO"}\n```', 'NO'],
    ['YES, the CV matches the goals.', 'YES'],
    ['No answer came.', 'No answer'],
    ['no: nothing fits', 'NO'],
    ['My choice: {"label": "No answer"}', 'No answer'],
  ])('is read from %j', (reply, label) => {
    expect(choice(reply)).toBe(label);
  });

  it.each([
    '',
    'Maybe',
    '{"label": "perhaps"}',
    'Nothing',
    'yesterday',
    'I would say YES',
    '{"a": "YES", "b": "NO"}',
    '{}',
    '42',
  ])('is not read from %j', (reply) => {
    expect(choice(reply)).toMatch(/none of the labels.*YES, NO, No answer/);
  });
});

describe('reading', () => {
  it('never throws, and never takes long', () => {
    always(
      fc.property(fc.oneof(fc.string(), fc.json()), (reply) => {
        readTasks(reply);
        readChoice(reply, ['YES', 'NO']);
      }),
    );
    const before = performance.now();
    const long = ['['.repeat(1e6), '{'.repeat(1e6), '`'.repeat(1e6), '```json '.repeat(1e5), `"${'\\'.repeat(1e6)}`];
    for (const reply of long) {
      readTasks(reply);
      readChoice(reply, ['YES', 'NO']);
    }
    expect(performance.now() - before).toBeLessThan(3_000);
  });

  it('asks for forms that a strict server takes: every member required, none besides', () => {
    for (const { schema } of [tasksOutput, choiceOutput(['YES', 'NO'])]) {
      const { properties, required, additionalProperties } = schema;
      expect(required).toEqual(Object.keys(properties as object));
      expect(additionalProperties).toBe(false);
    }
    expect(choiceOutput(['a', 'b']).schema).toMatchObject({ properties: { label: { enum: ['a', 'b'] } } });
  });
});
