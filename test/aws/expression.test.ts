import { describe, expect, it } from 'vitest';
import { conditionExpression, makePlaceholders, updateExpression } from '../../lib/aws/expression.ts';
import {
  add,
  addFrom,
  and,
  type Condition,
  eq,
  exists,
  missing,
  ne,
  not,
  or,
  remove,
  set,
} from '../../lib/kernel/table.ts';

const compiled = (condition: Condition): string => conditionExpression(condition, makePlaceholders());

describe('expressions', () => {
  it('give each name one placeholder and each value one', () => {
    const to = makePlaceholders();
    const text = conditionExpression(and(eq('status', 'RUNNING'), eq('status', 'PAUSED'), exists('a.b')), to);
    expect(text).toBe('#n0 = :v0 AND #n0 = :v1 AND attribute_exists(#n1)');
    expect(to.parameters()).toEqual({
      ExpressionAttributeNames: { '#n0': 'status', '#n1': 'a.b' },
      ExpressionAttributeValues: { ':v0': 'RUNNING', ':v1': 'PAUSED' },
    });
  });

  it('leave out parameters that nothing uses', () => {
    expect(makePlaceholders().parameters()).toEqual({});
  });

  it.each<[Condition, string]>([
    [and(eq('a', 1), or(eq('b', 2), eq('c', 3))), '#n0 = :v0 AND (#n1 = :v1 OR #n2 = :v2)'],
    [or(and(eq('a', 1), eq('b', 2)), missing('c')), '(#n0 = :v0 AND #n1 = :v1) OR attribute_not_exists(#n2)'],
    [not(or(eq('a', 1), eq('b', 2))), 'NOT (#n0 = :v0 OR #n1 = :v1)'],
    [not(ne('a', 1)), 'NOT (attribute_exists(#n0) AND #n0 <> :v0)'],
    [or(ne('a', 1), eq('b', 2)), '(attribute_exists(#n0) AND #n0 <> :v0) OR #n1 = :v1'],
    [and(and(and(eq('a', 1)))), '#n0 = :v0'],
    [and(or(eq('a', 1)), eq('b', 2)), '#n0 = :v0 AND #n1 = :v1'],
  ])('put parentheses where they are needed and nowhere else', (condition, expected) => {
    expect(compiled(condition)).toBe(expected);
  });

  it('write an update as SET and REMOVE over the values before it', () => {
    const to = makePlaceholders();
    const text = updateExpression([set('a', [1]), add('n', -1), addFrom('cost', 'reserved'), remove('x')], to);
    expect(text).toBe(
      'SET #n0 = :v0, #n1 = if_not_exists(#n1, :v1) + :v2, #n2 = if_not_exists(#n2, :v1) + if_not_exists(#n3, :v1) REMOVE #n4',
    );
    expect(to.parameters().ExpressionAttributeValues).toEqual({ ':v0': [1], ':v1': 0, ':v2': -1 });
  });

  it('name the path of a value that cannot be stored', () => {
    const bad = { list: [{ deep: Number.NaN }] };
    expect(() => updateExpression([set('config', bad)], makePlaceholders())).toThrow('config.list[0].deep is NaN');
  });
});
