import * as z from 'zod';
import { badRequest } from '../../kernel/errors.ts';
import { isTime, TIME_SPAN } from '../../kernel/time.ts';

/** Fields that several routes share. */
export const time = z.iso.datetime();

const MOMENT = 'a date and time with an offset, such as 2027-01-01T00:00:00Z';
const DAYS = { first: '1970-01-01', last: '9998-12-31' } as const;

/** A time that a caller gives, as it was given: every row can keep it. */
export const momentText = z.iso
  .datetime({ offset: true, abort: true, error: MOMENT })
  .refine((text) => isTime(Date.parse(text)), TIME_SPAN);

/** The same as ms since the epoch. */
export const moment = momentText.transform((text) => Date.parse(text));

/** A UTC day that a caller gives. A year can be counted on from it. */
export const day = z.iso
  .date({ abort: true, error: 'a day such as 2027-01-31' })
  .refine((text) => text >= DAYS.first && text <= DAYS.last, `a day from ${DAYS.first} to ${DAYS.last}`);
export const name = z.string().trim().min(1).max(200);
export const description = z.string().max(10_000);
export const configView = z
  .record(z.string(), z.unknown())
  .describe('One entry per key. Known keys are checked; any other key is kept as it is.');

/** A change that changes nothing is a mistake of the caller. @throws AppError 400 */
export const demandChange = (body: object, { shape }: { readonly shape: object }): void => {
  if (Object.keys(body).length > 0) return;
  const expected = `at least one of ${Object.keys(shape).join(', ')}`;
  throw badRequest('Nothing is to be changed.', [{ field: 'body', received: 'object without fields', expected }]);
};
