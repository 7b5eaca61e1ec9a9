import { describe, expect, it } from 'vitest';
import {
  and,
  type Condition,
  ConditionFailed,
  eq,
  exists,
  ge,
  gt,
  type Item,
  le,
  lt,
  missing,
  ne,
  not,
  oneOf,
  or,
  type Table,
} from '../../lib/kernel/table.ts';
import { refusal } from '../support/refusal.ts';
import { freshPk } from './table.contract.ts';

const ROW = {
  text: 'b',
  n: 5,
  zero: 0,
  yes: true,
  nothing: null,
  list: [1],
  map: { a: 1 },
  status: 'RUNNING',
  'a.b': 1,
};

const CASES: readonly (readonly [string, Condition, boolean])[] = [
  ['exists', exists('text'), true],
  ['exists, null counts', exists('nothing'), true],
  ['exists, missing', exists('none'), false],
  ['exists is no path into a map', exists('map.a'), false],
  ['a dot is part of the name', eq('a.b', 1), true],
  ['missing', missing('none'), true],
  ['missing, there', missing('zero'), false],
  ['= text', eq('text', 'b'), true],
  ['= other case', eq('text', 'B'), false],
  ['= number', eq('n', 5), true],
  ['= zero', eq('zero', 0), true],
  ['= boolean', eq('yes', true), true],
  ['= another type', eq('n', '5'), false],
  ['= boolean against number', eq('yes', 1), false],
  ['= null against text', eq('nothing', ''), false],
  ['= missing', eq('none', 'x'), false],
  ['<> differs', ne('text', 'c'), true],
  ['<> same', ne('text', 'b'), false],
  ['<> another type', ne('n', '5'), true],
  ['<> missing is false', ne('none', 'x'), false],
  ['<> boolean', ne('yes', false), true],
  ['< number', lt('n', 6), true],
  ['< equal', lt('n', 5), false],
  ['<= equal', le('n', 5), true],
  ['> number', gt('n', 4.5), true],
  ['>= equal', ge('n', 5), true],
  ['>= above', ge('n', 6), false],
  ['numbers are not ordered as text', lt('n', 10), true],
  ['< text', lt('text', 'c'), true],
  ['> text, upper case comes first', gt('text', 'Z'), true],
  ['< another type', lt('n', '6'), false],
  ['>= another type', ge('n', '4'), false],
  ['< missing', lt('none', 6), false],
  ['> missing', gt('none', -1), false],
  ['< null', lt('nothing', 6), false],
  ['in', oneOf('status', ['PAUSED', 'RUNNING']), true],
  ['in, not there', oneOf('status', ['PAUSED']), false],
  ['in, mixed types', oneOf('n', ['5', 4]), false],
  ['in, missing', oneOf('none', ['x']), false],
  ['and', and(eq('n', 5), eq('text', 'b')), true],
  ['and, one false', and(eq('n', 5), eq('text', 'c')), false],
  ['or', or(eq('n', 6), eq('text', 'b')), true],
  ['or, all false', or(eq('n', 6), eq('text', 'c')), false],
  ['and of one', and(eq('n', 5)), true],
  ['not', not(eq('n', 6)), true],
  ['not over missing', not(eq('none', 1)), true],
  ['not over a missing comparison', not(lt('none', 1)), true],
  ['not of <> over missing', not(ne('none', 1)), true],
  ['nested, "or" inside "and"', and(or(eq('n', 1), eq('n', 5)), not(and(exists('none'), eq('n', 5)))), true],
  ['nested, "and" inside "or"', or(and(eq('n', 5), eq('n', 6)), and(missing('none'), eq('n', 6))), false],
];

/** Those of the cases that hold where there is no item: only what asks for absence or denies. */
const HOLD_ON_NOTHING: ReadonlySet<string> = new Set([
  'missing',
  'missing, there',
  'not',
  'not over missing',
  'not over a missing comparison',
  'not of <> over missing',
]);

const REFUSED: readonly (readonly [string, Condition])[] = [
  ['and of nothing', and()],
  ['or of nothing', or()],
  ['in of nothing', oneOf('n', [])],
  [
    'in of 101',
    oneOf(
      'n',
      Array.from({ length: 101 }, (_, n) => n),
    ),
  ],
  ['an order of booleans', { op: '<', path: 'yes', value: true }],
  ['a value that is no number', eq('n', Number.NaN)],
];

/** Every operator against every kind of attribute, judged the same by whatever stands behind the port. */
export const conditionContract = (subject: () => Table): void => {
  describe('conditions', () => {
    it.each(CASES)('%s', async (_, condition, expected) => {
      const item: Item = { pk: freshPk(), sk: 'A', ...ROW };
      await subject().put(item);
      const outcome = await subject()
        .delete(item, condition)
        .then(
          () => true,
          (error: unknown) => {
            if (error instanceof ConditionFailed) return false;
            throw error;
          },
        );
      expect(outcome).toBe(expected);
    });

    it.each(CASES)('%s, on no item at all', async (name, condition) => {
      const work = subject().delete({ pk: freshPk(), sk: 'A' }, condition);
      if (HOLD_ON_NOTHING.has(name)) await work;
      else expect(await refusal(work)).toMatchObject({ name: 'ConditionFailed', item: undefined });
    });

    it.each(REFUSED)('is an error, not a verdict: %s', async (_, condition) => {
      const item: Item = { pk: freshPk(), sk: 'A', ...ROW };
      await subject().put(item);
      const error = await refusal(subject().delete(item, condition));
      expect(error).not.toBeInstanceOf(ConditionFailed);
      expect(await subject().get(item)).toEqual(item);
    });

    it('orders text by code point: U+1F388 is above U+FFFF', async () => {
      const item: Item = { pk: freshPk(), sk: 'A', text: '🎈' };
      await subject().put(item);
      await expect(subject().delete(item, lt('text', '\uffff'))).rejects.toBeInstanceOf(ConditionFailed);
      await subject().delete(item, gt('text', '\uffff'));
    });
  });
};
