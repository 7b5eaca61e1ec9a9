/**
 * How long a provider asks to wait, in milliseconds.
 * `retry-after-ms` is OpenAI's own; `Retry-After` is whole seconds or an HTTP date (RFC 9110 §10.2.3), fractions are met too.
 * @returns `undefined` when there is no such header, or it cannot be read
 */
export const retryAfterMs = (headers: Headers | undefined, nowMs: number): number | undefined => {
  const exact = headers?.get('retry-after-ms')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(exact)) return Math.ceil(Number(exact));
  const value = headers?.get('retry-after')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
  // Date.parse takes much that is no HTTP date ("5 apples" is one); a date of the header has a letter first and a zone last.
  const date = /^[A-Za-z].*GMT$/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
};
