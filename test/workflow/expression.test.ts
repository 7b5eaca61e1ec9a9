import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkExpression, evaluateExpression } from '../../lib/workflow/expression.ts';
import { always } from './always.ts';

const LAST = '{"status": 200, "ratio": 1.5, "tags": ["x", "y"], "deep": {"list": [{"name": "HOT"}]}, "none": null}';
const labelOf = (expression: string, given: { last?: string; task?: string; input?: string } = {}) =>
  evaluateExpression(expression, { last: '', task: '', input: '', ...given });

describe('an expression', () => {
  it.each([
    ['last.contains("ready")', { last: 'It is ready.' }, 'YES'],
    ['last.contains("ready")', { last: 'It is not.' }, 'NO'],
    ['last.lowerAscii().startsWith("ok")', { last: 'OK then' }, 'YES'],
    ['task == "" ? "none" : "some"', { task: 'write' }, 'some'],
    ['input.trim()', { input: ' stop ' }, 'stop'],
    ['size(last) > 3 && !(input == "no")', { last: 'long' }, 'YES'],
    ['json.status == 200', { last: LAST }, 'YES'],
    ['json.status >= 200 && json.status < 300', { last: LAST }, 'YES'],
    ['json.ratio > 1.0', { last: LAST }, 'YES'],
    ['"x" in json.tags', { last: LAST }, 'YES'],
    ['size(json.tags) == 2', { last: LAST }, 'YES'],
    ['json.deep.list[0].name', { last: LAST }, 'HOT'],
    ['json.none == null', { last: LAST }, 'YES'],
    ['has(json.missing)', { last: LAST }, 'NO'],
    ['json == null', { last: 'no JSON' }, 'YES'],
    ['json == null', { last: '"a text"' }, 'YES'],
    ['json[1] == 2', { last: '[1, 2]' }, 'YES'],
  ])('%s of %j is %s', (expression, given, label) => {
    expect(labelOf(expression, given)).toEqual({ ok: true, label });
  });

  it.each([
    ['last == ""', 'bool'],
    ['json.ok', 'label'],
    ['last', 'label'],
    ['has(json.a) ? "one" : "two"', 'label'],
  ])('%s is known to give a %s', (expression, gives) => {
    expect(checkExpression(expression)).toEqual({ ok: true, gives });
  });

  it.each([
    ['1 +', /Unexpected/],
    ['lst == ""', /lst/],
    ['last + 1', /string/],
    ['1 + 1', /type int/],
    ['[last]', /type list/],
    ['', /./],
    ['last.matches("(a+)+$")', /matches/],
    ['last.split("").size() == 1', /split/],
    ['["a"].join(last) == ""', /join/],
    ['cel.bind(a, last + last, a == "")', /bind/],
    ['[1, 2].all(x, x > 0)', /all/],
    ['json.exists(x, x == 1)', /exists/],
    ['json.map(x, x)[0]', /map/],
    ['json.filter(x, true) == []', /filter/],
    ['json.exists_one(x, true)', /exists_one/],
    ['timestamp("2026-01-01T00:00:00Z").getHours() == 1', /getHours|timestamp/],
    ['bytes(last).size() == 1', /bytes/],
    [`${'!'.repeat(300)}true`, /maxAstNodes|maxDepth/],
    [`${'('.repeat(100)}true${')'.repeat(100)}`, /maxDepth/],
    [`last == "${'x'.repeat(1_000)}"`, /1010 characters/],
    [`size([${'1,'.repeat(60)}1]) == 1`, /maxListElements|maxAstNodes/],
  ])('%s is refused', (expression, problem) => {
    const checked = checkExpression(expression);
    expect(checked.ok).toBe(false);
    expect(checked.ok ? '' : checked.problem).toMatch(problem);
    expect(labelOf(expression).ok).toBe(false);
  });

  it.each([
    ['json.missing == 1', LAST],
    ['json.tags[9]', LAST],
    ['json.__proto__', LAST],
    ['json.constructor', LAST],
    ['json.status', LAST],
    ['json.a.b', 'no JSON'],
    ['1 / size(last) == 1', ''],
    ['int(last) == 1', 'x'],
    ['9223372036854775807 + size(last) > 0', 'x'],
  ])('%s of %s has no label, and a sentence says why', (expression, last) => {
    const given = labelOf(expression, { last });
    expect(given.ok).toBe(false);
    expect(given.ok ? '' : given.problem).toMatch(/^The expression .+\.$/);
  });

  it('sees the first 8,000 characters of each text, and no JSON that is too large', () => {
    expect(labelOf('size(last) == 8000', { last: 'x'.repeat(9_000) })).toMatchObject({ label: 'YES' });
    expect(labelOf('size(input) == 8000', { input: 'x'.repeat(9_000) })).toMatchObject({ label: 'YES' });
    const rows = JSON.stringify(Array.from({ length: 6_000 }, () => 1));
    const deep = `${'['.repeat(60)}${']'.repeat(60)}`;
    const long = JSON.stringify(['x'.repeat(100_000)]);
    const bomb = '['.repeat(99_000);
    for (const last of [rows, deep, long, bomb])
      expect(labelOf('json == null', { last })).toMatchObject({ label: 'YES' });
  });

  it('takes a bounded time, whatever it is made of', () => {
    const needle = `${'a'.repeat(4_000)}b${'a'.repeat(3_000)}`;
    const parts = Array.from({ length: 18 }, () => '(last+last).contains("a"+task)');
    const before = performance.now();
    expect(labelOf(parts.join('||'), { last: 'a'.repeat(8_000), task: needle })).toMatchObject({ label: 'NO' });
    labelOf(`${Array.from({ length: 90 }, () => 'last').join('+')} == ""`, { last: 'x'.repeat(8_000) });
    expect(performance.now() - before).toBeLessThan(5_000);
  });

  it('never throws, and comes out the same again', () => {
    const words = [
      'last',
      'json',
      'task',
      '.a',
      '[0]',
      '+',
      '==',
      '&&',
      '"x"',
      '1',
      '(',
      ')',
      '.size()',
      'has(',
      '?',
      ':',
      '{',
      '}',
    ];
    always(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 12 }), fc.json(), (parts, last) => {
        const expression = parts.join('');
        const checked = checkExpression(expression);
        expect(checked).toEqual(checkExpression(expression));
        expect(labelOf(expression, { last })).toEqual(labelOf(expression, { last }));
      }),
      { numRuns: 500 },
    );
    always(
      fc.property(fc.string({ maxLength: 200 }), (expression) => {
        checkExpression(expression);
        labelOf(expression);
      }),
    );
  });
});
