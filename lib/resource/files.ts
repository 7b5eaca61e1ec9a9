import { isUtf8 } from 'node:buffer';
import { AppError, badRequest } from '../kernel/errors.ts';
import { blobKeys, keys } from '../kernel/keys.ts';
import type { Blobs, Clock } from '../kernel/ports.ts';
import { type Condition, ConditionFailed, type Table } from '../kernel/table.ts';
import type { Files, FileVersion } from '../tools/tool.ts';
import { blobVersion, compareVersions, type FileRow, fileItem, olderThan, parseFileRow, stillAt } from './file-row.ts';
import { listFiles } from './list-files.ts';
import { checkPath, spilledCall } from './path.ts';

/** Bytes of one write or append, and of a file that grows by appends. */
export const FILE_LIMITS = { writeBytes: 1_000_000, fileBytes: 10_000_000 } as const;

/** Changes that rest on what was read are tried again this often when somebody else was faster. */
const TRIES = 8;

export interface FilesOptions {
  readonly table: Table;
  readonly blobs: Blobs;
  readonly clock: Pick<Clock, 'now'>;
  readonly orgId: string;
  readonly executionId: string;
}

/**
 * The files of one execution. Every change is guarded by its version, so that a repeat changes nothing and a late holder
 * cannot undo what came after it.
 *
 * All methods @throws AppError `bad_path` or `file_too_large` for bad input, UnreadableRow for a row of a newer writer.
 */
export const makeFiles = (options: FilesOptions): Files => {
  const { table, blobs, clock, orgId, executionId } = options;

  const readRow = async (path: string): Promise<FileRow | undefined> => {
    const item = await table.get(keys.file(orgId, executionId, path), { consistent: true });
    return item === undefined ? undefined : parseFileRow(item);
  };

  const readBlob = async (row: FileRow | undefined): Promise<Uint8Array | undefined> => {
    if (row?.blobKey === undefined) return undefined;
    const body = await blobs.get(row.blobKey);
    if (body === undefined) throw new Error(`The content of ${row.path} (${row.blobKey}) is missing in the bucket.`);
    return body;
  };

  /** The object first, then the row that points at it: a crash between the two leaves an object nobody sees. */
  const putFile = async (path: string, content: Uint8Array, version: FileVersion, guard: Condition): Promise<void> => {
    const blobKey = blobKeys.fileVersion(orgId, executionId, blobVersion(path, version, content));
    const { seq, n } = version;
    await blobs.put(blobKey, content, isUtf8(content) ? 'text/plain; charset=utf-8' : 'application/octet-stream');
    const updatedAt = new Date(clock.now()).toISOString();
    const row: FileRow = { v: 1, path, bytes: content.length, seq, n, blobKey, updatedAt };
    await table.put(fileItem(orgId, executionId, row), guard);
  };

  /** Reads the row, lets `change` act on it, and goes round again when its guard met another row than the one read. */
  const changeRow = async <Result>(
    path: string,
    change: (row: FileRow | undefined) => Promise<Result>,
  ): Promise<Result> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await change(await readRow(path));
      } catch (error) {
        if (!(error instanceof ConditionFailed) || attempt === TRIES) throw error;
      }
    }
  };

  return {
    async write(rawPath, content, version) {
      const path = goodPath(rawPath);
      checkSize(path, content.length, FILE_LIMITS.writeBytes, 'one write');
      try {
        await putFile(path, content, version, olderThan(version));
      } catch (error) {
        // Refused: this version is there already, or a newer one. A row that cannot be read must not pass for either.
        if (!(error instanceof ConditionFailed) || error.item === undefined) throw error;
        parseFileRow(error.item);
      }
    },

    async append(rawPath, content, version) {
      const path = goodPath(rawPath);
      checkSize(path, content.length, FILE_LIMITS.writeBytes, 'one append');
      await changeRow(path, async (row) => {
        if (row !== undefined && compareVersions(row, version) >= 0) return;
        const before = (await readBlob(row)) ?? new Uint8Array();
        checkSize(path, before.length + content.length, FILE_LIMITS.fileBytes, 'one file');
        await putFile(path, Buffer.concat([before, content]), version, stillAt(row));
      });
    },

    async read(rawPath) {
      const spilled = spilledCall(rawPath);
      if (spilled !== undefined) return blobs.get(blobKeys.spilled(orgId, executionId, spilled.seq, spilled.n));
      return readBlob(await readRow(goodPath(rawPath)));
    },

    async delete(rawPath, version) {
      const path = goodPath(rawPath);
      return changeRow(path, async (row) => {
        const age = row === undefined ? -1 : compareVersions(row, version);
        if (age >= 0) return age === 0 && row?.existed === true;
        const existed = row?.blobKey !== undefined;
        const updatedAt = new Date(clock.now()).toISOString();
        const tombstone: FileRow = { v: 1, path, bytes: 0, ...pick(version), updatedAt, deleted: true, existed };
        await table.put(fileItem(orgId, executionId, tombstone), stillAt(row));
        return existed;
      });
    },

    async list() {
      const files = [];
      let cursor: string | undefined;
      do {
        const page = await listFiles({
          table,
          orgId,
          executionId,
          limit: 500,
          ...(cursor === undefined ? {} : { cursor }),
        });
        files.push(...page.items);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return files;
    },
  };
};

const pick = ({ seq, n }: FileVersion): FileVersion => ({ seq, n });

const goodPath = (text: string): string => {
  const checked = checkPath(text);
  if (!checked.ok) throw badRequest(checked.problem, [], 'bad_path');
  return checked.path;
};

const checkSize = (path: string, bytes: number, limit: number, of: string): void => {
  if (bytes <= limit) return;
  const message = `${path} would take ${bytes} bytes; ${of} may have at most ${limit}. Split it into several files.`;
  throw new AppError(413, 'file_too_large', message, { bytes, limit });
};
