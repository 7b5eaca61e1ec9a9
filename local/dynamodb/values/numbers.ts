/**
 * DynamoDB's numbers: decimals of up to 38 digits between 1e-130 and 9.9…e125. They reach this file in the plain form
 * that validation gives them (optional minus, digits, optional fraction), never with an exponent.
 */

/** Below 1e-130 there is no number, so that this offset makes every exponent a byte. */
const EXPONENT_OFFSET = 130;

interface Decimal {
  readonly negative: boolean;
  /** Significant digits without zeros at either end; empty for zero. */
  readonly digits: string;
  /** Power of ten of the first digit. */
  readonly exponent: number;
}

export function decimalOf(text: string): Decimal {
  const negative = text.startsWith('-');
  const [whole = '', fraction = ''] = (negative ? text.slice(1) : text).split('.');
  const all = whole + fraction;
  const first = all.search(/[1-9]/);
  if (first < 0) return { negative: false, digits: '', exponent: 0 };
  return { negative, digits: all.slice(first).replace(/0+$/, ''), exponent: whole.length - 1 - first };
}

/**
 * Bytes whose order is the numbers' order: sign, exponent, digits, end; complemented for negative numbers. DynamoDB keeps
 * number keys in numeric order, and SQLite compares blobs byte by byte.
 */
export function orderedNumber(text: string): Buffer {
  const { negative, digits, exponent } = decimalOf(text);
  if (digits === '') return Buffer.from([1]);
  const bytes = Buffer.alloc(digits.length + 3);
  bytes[0] = negative ? 0 : 2;
  bytes[1] = exponent + EXPONENT_OFFSET;
  for (let i = 0; i < digits.length; i++) bytes[i + 2] = digits.charCodeAt(i) - 47;
  if (negative) for (let i = 1; i < bytes.length; i++) bytes[i] = 255 - (bytes[i] ?? 0);
  return bytes;
}

/** Exact sum (or difference) in plain form. Whether it still fits into 38 digits is the caller's question. */
export function addNumbers(one: string, other: string, sign: 1 | -1): string {
  const scale = Math.max(fractionLength(one), fractionLength(other));
  const sum = scaled(one, scale) + BigInt(sign) * scaled(other, scale);
  const digits = (sum < 0n ? -sum : sum).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  return `${sum < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

const fractionLength = (text: string): number => (text.split('.')[1] ?? '').length;

function scaled(text: string, scale: number): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(scale, '0'));
}
