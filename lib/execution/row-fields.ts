/** Fields that the rows of an execution share. What they let through can be shown: a date can be made of every time. */
import * as z from 'zod';
import { UnreadableRow } from '../kernel/errors.ts';
import type { Item } from '../kernel/table.ts';

export const count = z.int().min(0);

/** Milliseconds since the epoch, up to the last that a Date holds. */
export const time = z.int().min(0).max(8_640_000_000_000_000);

/** The object that an attribute holds as JSON text. @throws UnreadableRow */
export const jsonObject = (item: Item, text: string): { readonly [key: string]: unknown } => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UnreadableRow(item, 'it holds text that is not JSON', error);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UnreadableRow(item, 'it holds JSON that is no object');
  }
  return value as { readonly [key: string]: unknown };
};
