import type * as z from 'zod';
import { UnreadableRow } from '../kernel/errors.ts';
import type { Item, Key, Value } from '../kernel/table.ts';

/** Version that the rows of organisations, projects, keys, providers and agents carry. */
export const ROW_VERSION = 1;

/**
 * Reads a row by its schema.
 * @throws UnreadableRow when a newer version of the code wrote it, or when it is damaged. Values are not in the message.
 */
export const readRow = <T>(schema: z.ZodType<T>, item: Item): T => {
  if (item.v !== ROW_VERSION) {
    throw new UnreadableRow(
      item,
      `it has version ${JSON.stringify(item.v)}; this code understands version ${ROW_VERSION}.`,
    );
  }
  const parsed = schema.safeParse(item);
  if (parsed.success) return parsed.data;
  const wrong = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.code}`);
  throw new UnreadableRow(item, `it does not fit its schema (${wrong.join(', ')}).`);
};

/** A row of the present version. Attributes that are `undefined` are left out: the table never stores them. */
export const makeRow = (key: Key, attributes: { readonly [name: string]: Value | undefined }): Item => {
  const present = Object.entries(attributes).filter((entry): entry is [string, Value] => entry[1] !== undefined);
  return { ...Object.fromEntries(present), v: ROW_VERSION, ...key };
};
