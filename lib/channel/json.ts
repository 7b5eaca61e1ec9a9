/**
 * JSON out of bytes that were verified as they came. Bytes that are no UTF-8 are refused, not replaced.
 * @returns `undefined` when it is none
 */
export const jsonOf = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
};
