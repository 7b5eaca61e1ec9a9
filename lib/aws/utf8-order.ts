/**
 * Order of DynamoDB's strings: UTF-8 bytes, which is code-point order. JavaScript compares UTF-16 units, and the two
 * differ where a surrogate pair meets a character from U+E000 to U+FFFF (such as the U+FFFF that ends our key ranges).
 * @returns negative, zero or positive, as for `Array.sort`
 */
export const compareUtf8 = (left: string, right: string): number => {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const a = left.charCodeAt(i);
    const b = right.charCodeAt(i);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
};

/** Surrogates (D800–DFFF) stand for code points above U+FFFF, so they go above everything else. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
