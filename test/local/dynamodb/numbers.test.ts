import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addNumbers, orderedNumber } from '../../../local/dynamodb/values/numbers.ts';

/** Integers of up to 38 digits, moved by a power of ten. */
const decimal = fc.tuple(fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }), fc.integer({ min: 0, max: 40 }));

function textOf([digits, places]: [bigint, number]): string {
  const padded = (digits < 0n ? -digits : digits).toString().padStart(places + 1, '0');
  const whole = padded.slice(0, padded.length - places);
  const fraction = padded.slice(padded.length - places).replace(/0+$/, '');
  return `${digits < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

const scaled = ([digits, places]: [bigint, number]): bigint => digits * 10n ** BigInt(40 - places);

test('the bytes of numbers sort as the numbers do', () => {
  fc.assert(
    fc.property(decimal, decimal, (a, b) => {
      const byBytes = Math.sign(Buffer.compare(orderedNumber(textOf(a)), orderedNumber(textOf(b))));
      const [left, right] = [scaled(a), scaled(b)];
      expect(byBytes).toBe(left < right ? -1 : left > right ? 1 : 0);
    }),
  );
});

test('sums and differences are exact', () => {
  fc.assert(
    fc.property(decimal, decimal, fc.constantFrom<1 | -1>(1, -1), (a, b, sign) => {
      expect(addNumbers(textOf(a), textOf(b), sign)).toBe(textOf([scaled(a) + BigInt(sign) * scaled(b), 40]));
    }),
  );
});
