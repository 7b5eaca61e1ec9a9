import { createHash } from 'node:crypto';
import * as z from 'zod';
import { UnreadableRow } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import { and, type Condition, eq, type Item, lt, missing, or } from '../kernel/table.ts';
import type { FileVersion } from '../tools/tool.ts';

/** A file of an execution: its name and version, and the immutable object that holds its bytes. */
const schema = z.object({
  v: z.literal(1),
  path: z.string(),
  bytes: z.int().nonnegative(),
  /** The version: the step and call that wrote it. Two attributes, because a guard looks at top-level ones only. */
  seq: z.int().nonnegative(),
  n: z.int().nonnegative(),
  /** Missing on a deleted file. */
  blobKey: z.string().optional(),
  updatedAt: z.iso.datetime(),
  /** The row stays as a tombstone, so that a late write of an older version cannot bring the file back. */
  deleted: z.boolean().optional(),
  /** On a tombstone: whether there was a file to delete, so that a repeat of the call gives the same answer. */
  existed: z.boolean().optional(),
});

export type FileRow = Readonly<z.infer<typeof schema>>;

/** @throws UnreadableRow on a newer or damaged row */
export const parseFileRow = (item: Item): FileRow => {
  const parsed = schema.safeParse(item);
  if (parsed.success) return parsed.data;
  const why =
    item.v === 1
      ? parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')
      : `it has version ${JSON.stringify(item.v)} and this code reads version 1`;
  throw new UnreadableRow(item, why, parsed.error);
};

export const fileItem = (orgId: string, executionId: string, row: FileRow): Item => ({
  ...keys.file(orgId, executionId, row.path),
  ...JSON.parse(JSON.stringify(row)),
});

/** Negative when `a` is older than `b`, 0 for the same. */
export const compareVersions = (a: FileVersion, b: FileVersion): number => a.seq - b.seq || a.n - b.n;

/** Guard of a write: no row yet, or one of an older version. A row of a newer writer is never replaced unread. */
export const olderThan = (version: FileVersion): Condition =>
  or(missing('seq'), and(eq('v', 1), or(lt('seq', version.seq), and(eq('seq', version.seq), lt('n', version.n)))));

/** Guard of a change that rests on what was read: the row is still the one that was seen. */
export const stillAt = (seen: FileRow | undefined): Condition =>
  seen === undefined ? missing('seq') : and(eq('seq', seen.seq), eq('n', seen.n));

const digest = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 16);

/**
 * Name of the object. The digest of the content is part of it, because an append of one version can be computed twice
 * from two different beginnings (a zombie that read too early), and an object's key must never get a second content.
 */
export const blobVersion = (path: string, version: FileVersion, content: Uint8Array): string =>
  `${version.seq}-${version.n}-${digest(path)}-${digest(content)}`;
