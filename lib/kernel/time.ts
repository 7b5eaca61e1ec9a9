/**
 * Times that people may give, ms since the epoch: years of four digits, whose text sorts like the time it stands for, and which
 * every row and a Date can hold.
 */
const FIRST_TIME = 0;
export const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z');

/** What is expected of a time out of these bounds. */
export const TIME_SPAN = 'a time from 1970 to 9999 (UTC)';

export const isTime = (ms: number): boolean => Number.isSafeInteger(ms) && ms >= FIRST_TIME && ms <= LAST_TIME;
