import * as z from 'zod';
import { badRequest } from '../kernel/errors.ts';
import type { PageRequest } from '../tenancy/list-rows.ts';

const MOST_ITEMS = 1_000;
const USUAL_ITEMS = 20;

/** Query parameters of every list. */
export const pageQuery = {
  limit: z.coerce.number().pipe(z.int().min(1).max(MOST_ITEMS)).default(USUAL_ITEMS),
  cursor: z.string().optional(),
};

const cursorSchema = z.strictObject({ v: z.literal(1), o: z.string(), l: z.string(), p: z.string().max(1_024) });

/** `start` is the position inside the cursor. `cursor` turns the next position into one. */
export interface ListRequest extends PageRequest {
  readonly cursor: (position: string) => string;
}

export const encodeCursor = (orgId: string, list: string, position: string): string =>
  Buffer.from(JSON.stringify({ v: 1, o: orgId, l: list, p: position })).toString('base64url');

/**
 * The position in a cursor of exactly this organisation and list. A forged one reaches nothing: the position is only a
 * place inside a partition that the caller may read anyway.
 * @throws AppError 400 `invalid_cursor`
 */
export const decodeCursor = (orgId: string, list: string, cursor: string, field: string = 'cursor'): string => {
  const parsed = cursorSchema.safeParse(readJson(cursor));
  if (!parsed.success) throw invalid(field, cursor, 'a cursor as a list answered it');
  if (parsed.data.o !== orgId || parsed.data.l !== list) {
    throw invalid(field, cursor, 'a cursor of this very list, with the same filters');
  }
  return parsed.data.p;
};

const readJson = (cursor: string): unknown => {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
};

export const invalid = (field: string, cursor: string, expected: string): Error =>
  badRequest(
    `The ${field} is no use here.`,
    [{ field, received: `string of ${cursor.length} characters`, expected }],
    'invalid_cursor',
  );

/** What the router hands to a list's handler. */
export const makePage =
  (orgId: string, query: { readonly limit?: unknown; readonly cursor?: unknown }) =>
  (list: string): ListRequest => ({
    limit: typeof query.limit === 'number' ? query.limit : USUAL_ITEMS,
    start:
      typeof query.cursor === 'string' && query.cursor !== '' ? decodeCursor(orgId, list, query.cursor) : undefined,
    cursor: (position) => encodeCursor(orgId, list, position),
  });

/** The body of a list. */
export const listBody = (
  page: ListRequest,
  listed: { readonly items: readonly unknown[]; readonly next?: string },
): { readonly items: readonly unknown[]; readonly nextCursor?: string } => ({
  items: listed.items,
  ...(listed.next === undefined ? {} : { nextCursor: page.cursor(listed.next) }),
});

/** The schema of a list's body. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), nextCursor: z.string().optional().describe('Absent at the end.') });
