import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  choiceOutput,
  type Room,
  readChoice,
  readTasks,
  tasksInWords,
  tasksOutput,
} from '../../lib/workflow/structured.ts';
import { always } from './always.ts';

const tasks = (reply: string, room?: Room) => {
  const read = readTasks(reply, room);
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

  const list = (length: number) => Array.from({ length }, (_, i) => `task ${i}`);

  it.each([100, 101, 500])('%i of them are all read, in their order', (length) => {
    expect(tasks(JSON.stringify(list(length)))).toEqual(list(length));
    expect(tasks(JSON.stringify({ tasks: ['', ...list(length), ' '] }))).toEqual(list(length));
  });

  it('of the greatest length are as many as there may be', () => {
    const long = Array.from({ length: 500 }, () => 'x'.repeat(2_000));
    expect(tasks(JSON.stringify(long))).toEqual(long);
  });

  it.each([
    [JSON.stringify(list(501)), undefined, /^The reply lists 501 tasks, and at most 500 are allowed\. Answer/],
    ['["a", "b", "c"]', { most: 2 }, /lists 3 tasks, and at most 2 are allowed\. .*at most 2 of them/],
    ['["a"]', { most: 0, waiting: 500 }, /at most 0 are allowed, because 500 wait already and a list holds 500\./],
    [JSON.stringify(['a', 'x'.repeat(2_001)]), undefined, /^Task 2 has 2001 characters, and at most 2000 are allowed/],
    [`${' '.repeat(1_200_000)}["a"]`, undefined, /has 1200005 characters, and at most 1200000 are read/],
  ])('are not cut to what is allowed: case %#', (reply, room, problem) => {
    expect(tasks(reply, room)).toMatch(problem);
    expect(readTasks(reply, room)).toMatchObject({ ok: false, beyond: expect.stringMatching(/at most/) });
  });

  it.each([
    ['a numbered list', 'I would do:\n1. first\n2) second', ['first', 'second']],
    ['a list of points', '- first\n* second\n\nThat is all.', ['first', 'second']],
    ['no list', 'Yes.', ['otherwise']],
    ['nothing', '', ['otherwise']],
  ])('are taken out of words: %s', (_, text, value) => {
    expect(tasksInWords(text, { most: 10 }, ['otherwise'])).toEqual({ ok: true, value });
  });

  it.each([
    ['- a\n- b\n- c', []],
    ['No list.', ['a', 'b', 'c']],
    ['No list.', ['x'.repeat(2_001)]],
  ])('out of words are not cut either: case %#', (text, otherwise) => {
    const beyond = expect.stringMatching(/at most 2 are allowed|at most 2000 are allowed/);
    expect(tasksInWords(text, { most: 2 }, otherwise)).toMatchObject({ ok: false, beyond });
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
    for (const { schema } of [tasksOutput(500), choiceOutput(['YES', 'NO'])]) {
      const { properties, required, additionalProperties } = schema;
      expect(required).toEqual(Object.keys(properties as object));
      expect(additionalProperties).toBe(false);
    }
    expect(tasksOutput(7).schema).toMatchObject({ properties: { tasks: { maxItems: 7 } } });
    expect(choiceOutput(['a', 'b']).schema).toMatchObject({ properties: { label: { enum: ['a', 'b'] } } });
  });
});
