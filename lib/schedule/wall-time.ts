import { DateTime } from 'luxon';

const FORM = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}|$)/;

/**
 * The moment of an ISO 8601 date and time, ms; one without an offset is a wall clock's in this zone. A space may stand for
 * the T. `undefined` for what is no such time.
 */
export const wallTime = (text: string, timezone: string): number | undefined => {
  const trimmed = text.trim();
  if (!FORM.test(trimmed)) return undefined;
  const at = DateTime.fromISO(trimmed.replace(' ', 'T'), { zone: timezone });
  return at.isValid ? at.toMillis() : undefined;
};
