import { AuthenticationError } from './authentication-error.ts';

/** How far a client's clock may be off. AWS allows five minutes (S3 fifteen; the shorter one holds here). */
const SKEW_MS = 5 * 60_000;
/** A presigned URL lives at most seven days. */
const MAX_EXPIRES_SECONDS = 7 * 24 * 3600;

/** @throws AuthenticationError `skewed` for a header signature, `expired` for a presigned URL, `incomplete` for no date */
export function checkTimes(
  claim: { readonly presigned: boolean; readonly amzDate: string; readonly expires: number | undefined },
  now: number,
): void {
  const at = parseAmzDate(claim.amzDate);
  if (at === undefined) {
    throw new AuthenticationError('incomplete', `Date must be like 20260131T120000Z, not '${claim.amzDate}'.`);
  }
  if (at - now > SKEW_MS) {
    throw new AuthenticationError(
      'skewed',
      `Signature not yet current: ${claim.amzDate} is still later than ${formatAmzDate(now + SKEW_MS)} (${formatAmzDate(now)} + 5 min.)`,
    );
  }
  if (!claim.presigned) {
    if (now - at <= SKEW_MS) return;
    throw new AuthenticationError(
      'skewed',
      `Signature expired: ${claim.amzDate} is now earlier than ${formatAmzDate(now - SKEW_MS)} (${formatAmzDate(now)} - 5 min.)`,
    );
  }
  const expires = claim.expires ?? Number.NaN;
  if (!Number.isInteger(expires) || expires < 1 || expires > MAX_EXPIRES_SECONDS) {
    throw new AuthenticationError('incomplete', 'X-Amz-Expires must be a whole number of seconds from 1 to 604800.');
  }
  if (now > at + expires * 1000) throw new AuthenticationError('expired', 'Request has expired');
}

const AMZ_DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

function parseAmzDate(text: string): number | undefined {
  const match = AMZ_DATE.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match.map(Number);
  const at = Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second);
  return Number.isNaN(at) ? undefined : at;
}

const formatAmzDate = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
