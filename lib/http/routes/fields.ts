import * as z from 'zod';

/** Fields that several routes share. */
export const time = z.iso.datetime();
export const name = z.string().trim().min(1).max(200);
export const description = z.string().max(10_000);
export const configView = z
  .record(z.string(), z.unknown())
  .describe('One entry per key. Known keys are checked; any other key is kept as it is.');
