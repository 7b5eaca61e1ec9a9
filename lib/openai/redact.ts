/** Longer error texts help nobody and can carry a whole prompt back. */
const MAX_LENGTH = 500;

/** Shorter pieces of a key occur by chance in ordinary text. */
const MIN_PIECE = 8;

const MARK = '[key]';

/**
 * Makes a provider's words safe to show: providers quote the key they refused, whole, cut or starred out
 * ("Incorrect API key provided: sk-abcd****wxyz").
 */
export const redact = (text: string, apiKey: string): string => {
  // Whole pages come back from proxies; what cannot be shown need not be searched.
  let safe = text.slice(0, 8 * MAX_LENGTH);
  for (let length = apiKey.length; length >= MIN_PIECE; length--) {
    safe = safe.replaceAll(apiKey.slice(0, length), MARK).replaceAll(apiKey.slice(-length), MARK);
  }
  safe = safe
    .replace(/\bBearer\s+[^\s"',]+/gi, `Bearer ${MARK}`)
    .replace(/\b(?:sk|rk|pk|gsk|xai)-?[-_][A-Za-z0-9*_.-]+/g, MARK)
    .replace(/[\w-]*\*{3,}[\w-]*/g, MARK)
    .replace(/\s+/g, ' ')
    .trim();
  return safe.length > MAX_LENGTH ? `${safe.slice(0, MAX_LENGTH - 1)}…` : safe;
};
