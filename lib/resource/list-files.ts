import { badRequest } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import type { Table, Value } from '../kernel/table.ts';
import type { FileEntry } from '../tools/tool.ts';
import { parseFileRow } from './file-row.ts';
import { MAX_PATH_BYTES } from './path.ts';

export interface ListFilesOptions {
  readonly table: Table;
  readonly orgId: string;
  readonly executionId: string;
  /** Entries of a page, 1 or more. */
  readonly limit: number;
  /** Path of the last entry of the page before; need not exist any more. */
  readonly cursor?: string;
}

export interface FilePage {
  /** Sorted by the bytes of the path. */
  readonly items: readonly FileEntry[];
  /** Present when more may follow: the path to go on after. */
  readonly nextCursor?: string;
}

/**
 * One page of an execution's files, deleted ones left out.
 * @throws UnreadableRow; AppError 400 for a cursor that can be no path, which would not fit into a key
 */
export const listFiles = async (options: ListFilesOptions): Promise<FilePage> => {
  const { table, orgId, executionId, limit, cursor } = options;
  if (cursor !== undefined && Buffer.byteLength(cursor) > MAX_PATH_BYTES) {
    throw badRequest('The cursor does not belong to this list.', [], 'invalid_cursor');
  }
  const { pk, prefix } = keys.files(orgId, executionId);
  const items: FileEntry[] = [];
  // Paths hold no control character, so nothing lies between a path and the same with one added. And "FILE$" is the first
  // key after every "FILE#…": a bound of U+FFFF would cut off paths that begin beyond it (emoji sort higher in UTF-8).
  const from = cursor === undefined ? prefix : `${prefix}${cursor}\u0001`;
  const to = `${prefix.slice(0, -1)}$`;
  let after: Value | undefined;
  do {
    const page = await table.query({
      pk,
      from,
      to,
      limit: limit + 1,
      consistent: true,
      ...(after === undefined ? {} : { after }),
    });
    for (const item of page.items) {
      const row = parseFileRow(item);
      if (row.deleted === true) continue;
      if (items.length === limit) return { items, nextCursor: items[limit - 1]?.path ?? '' };
      items.push({ path: row.path, bytes: row.bytes, updatedAt: row.updatedAt });
    }
    after = page.next;
  } while (after !== undefined);
  return { items };
};
