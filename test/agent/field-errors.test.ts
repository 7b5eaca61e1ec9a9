import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { fieldErrors } from '../../lib/agent/field-errors.ts';
import { workflowDefinitionSchema } from '../../lib/workflow/definition.ts';

const errors = (schema: z.ZodType, value: unknown) => {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : fieldErrors(parsed.error, value);
};
const one = (inner: z.ZodType, value: unknown) => errors(z.object({ a: inner }), { a: value })[0];

describe('what was expected says what would be right', () => {
  it.each([
    [z.number().positive(), -1, 'number -1', 'more than 0'],
    [z.number().min(0), -1, 'number -1', 'at least 0'],
    [z.string().min(1), '', 'string of 0 characters', 'at least 1 character'],
    [z.array(z.string()).min(1), [], 'array of 0', 'at least 1 entry'],
    [z.array(z.string()).max(2), ['', '', ''], 'array of 3', 'at most 2 entries'],
    [z.string().regex(/^a$/, 'the letter a'), 'b', 'string of 1 character', 'the letter a'],
    [z.string().startsWith('x'), 'y', 'string of 1 character', 'string that must start with "x"'],
    [z.url(), 'y', 'string of 1 character', 'valid URL'],
    [z.enum(['a', 'b']), 'c', 'string of 1 character', 'one of a, b'],
    [z.union([z.string(), z.number()]), true, 'boolean', 'string or number'],
  ])('case %#', (schema, value, received, expected) => {
    expect(one(schema, value)).toEqual({ field: 'a', received, expected });
  });

  it('of a name that is wrong itself', () => {
    const label = z.string().regex(/^[a-z]+$/, 'lower-case letters');
    expect(errors(z.object({ next: z.record(label, z.string()) }), { next: { 'a/b': 'x' } })).toEqual([
      { field: 'next.a/b', received: 'name of 3 characters', expected: 'a name: lower-case letters' },
    ]);
  });

  it('of a kind that does not exist', () => {
    const steps = { ask: { kind: 'LOOP' }, other: {} };
    const kinds = 'one of ITERATION, TOOL, WAIT, TASK_QUEUE, ASK_PERMISSION, CONDITION, END';
    expect(errors(workflowDefinitionSchema, { name: 'a', start: 'ask', steps })).toEqual([
      { field: 'steps.ask.kind', received: 'string of 4 characters', expected: kinds },
      { field: 'steps.other.kind', received: 'nothing', expected: kinds },
    ]);
  });

  it('inside the one alternative that has the right shape', () => {
    const either = z.union([z.string(), z.strictObject({ n: z.number() })]);
    expect(one(either, { n: 'x' })).toEqual({ field: 'a.n', received: 'string of 1 character', expected: 'number' });
    expect(one(either, { n: 1, m: 1 })).toEqual({
      field: 'a.m',
      received: 'number 1',
      expected: 'no field of this name',
    });
  });

  it('and never the words of a validator', () => {
    const all = z.object({
      s: z.set(z.string()),
      m: z.map(z.string(), z.number()),
      u: z.url(),
      d: z.iso.datetime(),
      l: z.literal('x'),
      r: z.record(z.enum(['k']), z.int()),
      x: z.union([z.strictObject({ a: z.number() }), z.strictObject({ b: z.number() })]),
      i: z.int(),
      n: z.number().multipleOf(5),
    });
    const wrong = {
      s: new Set([1]),
      m: new Map([[1, 'x']]),
      u: '',
      d: '',
      l: '',
      r: { z: 1 },
      x: { c: 1 },
      i: 1.5,
      n: 3,
    };
    const found = errors(all, wrong);
    expect(found.length).toBeGreaterThan(8);
    for (const { expected } of found) expect(expected).not.toMatch(/Invalid|Unrecognized|Too (small|big)|received/);
  });
});
