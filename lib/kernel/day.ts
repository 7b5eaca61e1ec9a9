/** The UTC day of a time, `YYYY-MM-DD`: sorts as text. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const DAY_MS = 86_400_000;

/** When a day begins, ms since the epoch. */
export const startOfDay = (day: string): number => Date.parse(`${day}T00:00:00.000Z`);

/** When the next one begins. */
export const endOfDay = (day: string): number => startOfDay(day) + DAY_MS;

/** The day so many days later, or earlier. */
export const plusDays = (day: string, days: number): string => dayOf(startOfDay(day) + days * DAY_MS);
