import { beforeEach, describe, expect, it } from 'vitest';
import { AppError, UnreadableRow } from '../../lib/kernel/errors.ts';
import { blobKeys, keys } from '../../lib/kernel/keys.ts';
import type { Blobs } from '../../lib/kernel/ports.ts';
import type { Table } from '../../lib/kernel/table.ts';
import { FILE_LIMITS, makeFiles } from '../../lib/resource/files.ts';
import { listFiles } from '../../lib/resource/list-files.ts';
import type { Files } from '../../lib/tools/tool.ts';
import { makeMemoryBlobs } from '../support/memory-blobs.ts';
import { makeMemoryTable } from '../support/memory-table.ts';

const ORG = 'org_1';
const EXE = 'exe_1';
const clock = { now: () => Date.UTC(2026, 0, 1) };

let table: ReturnType<typeof makeMemoryTable>;
let blobs: ReturnType<typeof makeMemoryBlobs>;
let files: Files;
const filesOver = (over: { table?: Table; blobs?: Blobs; executionId?: string; orgId?: string } = {}): Files =>
  makeFiles({ table, blobs, clock, orgId: ORG, executionId: EXE, ...over });

beforeEach(() => {
  table = makeMemoryTable();
  blobs = makeMemoryBlobs();
  files = filesOver();
});

const bytes = (text: string): Uint8Array => Buffer.from(text);
const at = (seq: number, n = 0) => ({ seq, n });
const textOf = async (path: string, from = files): Promise<string | undefined> => {
  const content = await from.read(path);
  return content === undefined ? undefined : Buffer.from(content).toString();
};

describe('write', () => {
  it('makes and replaces a file', async () => {
    await files.write('a.txt', bytes('one'), at(1));
    await files.write('a.txt', bytes('two!'), at(2));
    expect(await textOf('a.txt')).toBe('two!');
    expect(await files.list()).toEqual([{ path: 'a.txt', bytes: 4, updatedAt: '2026-01-01T00:00:00.000Z' }]);
  });

  it('changes nothing when it comes late or again', async () => {
    await files.write('a.txt', bytes('new'), at(3, 1));
    for (const version of [at(1, 9), at(3, 0), at(3, 1)]) await files.write('a.txt', bytes('old'), version);
    expect(await textOf('a.txt')).toBe('new');
    await files.write('a.txt', bytes('newer'), at(3, 2));
    expect(await textOf('a.txt')).toBe('newer');
  });

  it('keeps bytes as they are, and one name for two spellings', async () => {
    const binary = Uint8Array.from([0, 255, 128, 10]);
    await files.write('caf\u0065\u0301', binary, at(1));
    expect(await files.read('caf\u00e9')).toEqual(binary);
    expect(blobs.contentType(blobs.keys()[0] ?? '')).toBe('application/octet-stream');
  });

  it('refuses bad paths and sizes with codes, and writes nothing', async () => {
    const refusal = (promise: Promise<unknown>) =>
      promise.then(
        () => undefined,
        (error: unknown) => error,
      );
    expect(await refusal(files.write('../x', bytes('x'), at(1)))).toMatchObject({ code: 'bad_path', status: 400 });
    expect(await refusal(files.write('~spilled/1-1', bytes('x'), at(1)))).toMatchObject({ code: 'bad_path' });
    expect(await refusal(files.read('/etc/passwd'))).toBeInstanceOf(AppError);
    const big = new Uint8Array(FILE_LIMITS.writeBytes + 1);
    expect(await refusal(files.write('x', big, at(1)))).toMatchObject({ code: 'file_too_large', status: 413 });
    expect(await refusal(files.append('x', big, at(1)))).toMatchObject({ code: 'file_too_large' });
    expect(table.dump()).toEqual([]);
    expect(blobs.keys()).toEqual([]);
  });
});

describe('append', () => {
  it('adds once for each version, however often it is called', async () => {
    await files.append('log', bytes('a'), at(1));
    await files.append('log', bytes('a'), at(1));
    await files.append('log', bytes('b'), at(1, 1));
    await files.append('log', bytes('a'), at(1));
    await files.append('log', bytes('c'), at(2));
    expect(await textOf('log')).toBe('abc');
  });

  it('goes round again when somebody else was faster, and loses nothing', async () => {
    await files.write('log', bytes('0'), at(1));
    let first = true;
    const slow = filesOver({
      blobs: {
        ...blobs,
        get: async (key) => {
          const body = await blobs.get(key);
          if (first) {
            first = false;
            await files.append('log', bytes('A'), at(2));
          }
          return body;
        },
      },
    });
    await slow.append('log', bytes('B'), at(3));
    expect(await textOf('log')).toBe('0AB');
  });

  it('leaves the file alone when a zombie computed its version from an older beginning', async () => {
    await files.write('log', bytes('old '), at(1));
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const zombie = filesOver({
      blobs: { ...blobs, put: (key, body, type) => gate.then(() => blobs.put(key, body, type)) },
    });
    const late = zombie.append('log', bytes('end'), at(3));
    await files.write('log', bytes('new '), at(2));
    await files.append('log', bytes('end'), at(3));
    release();
    await late;
    expect(await textOf('log')).toBe('new end');
  });

  it('stops growing at the limit of a file', async () => {
    const megabyte = new Uint8Array(FILE_LIMITS.writeBytes);
    for (let seq = 1; seq <= 10; seq++) await files.append('big', megabyte, at(seq));
    await expect(files.append('big', bytes('x'), at(11))).rejects.toMatchObject({ code: 'file_too_large' });
    expect((await files.read('big'))?.length).toBe(FILE_LIMITS.fileBytes);
  });
});

describe('delete', () => {
  it('takes the file away, says the same when repeated, and no late write brings it back', async () => {
    await files.write('a', bytes('x'), at(1));
    expect(await files.delete('a', at(3))).toBe(true);
    expect(await files.delete('a', at(3))).toBe(true);
    expect(await files.delete('a', at(4))).toBe(false);
    await files.write('a', bytes('late'), at(2));
    await files.append('a', bytes('late'), at(2));
    expect(await files.read('a')).toBeUndefined();
    expect(await files.list()).toEqual([]);
    await files.append('a', bytes('anew'), at(5));
    expect(await textOf('a')).toBe('anew');
  });

  it('holds against a write that arrives after it, even where there was no file yet', async () => {
    expect(await files.delete('a', at(3))).toBe(false);
    await files.write('a', bytes('late'), at(2));
    expect(await files.read('a')).toBeUndefined();
  });
});

describe('a crash between the object and the row', () => {
  it('leaves the old file, and the repeat finishes the work', async () => {
    await files.write('a', bytes('old'), at(1));
    const crashing = filesOver({ table: { ...table, put: () => Promise.reject(new Error('crash')) } });
    await expect(crashing.write('a', bytes('new'), at(2))).rejects.toThrow('crash');
    expect(await textOf('a')).toBe('old');
    await files.write('a', bytes('new'), at(2));
    expect(await textOf('a')).toBe('new');
  });

  it('is harmless after the row too: the answer was lost, the repeat is a no-op', async () => {
    const losing = filesOver({
      table: { ...table, put: (item, guard) => table.put(item, guard).then(() => Promise.reject(new Error('lost'))) },
    });
    await expect(losing.append('a', bytes('x'), at(1))).rejects.toThrow('lost');
    await files.append('a', bytes('x'), at(1));
    expect(await textOf('a')).toBe('x');
  });
});

describe('reading', () => {
  it('finds set-aside results under ~spilled', async () => {
    await blobs.put(blobKeys.spilled(ORG, EXE, 4, 2), bytes('a long result'), 'text/plain');
    expect(await textOf('~spilled/4-2')).toBe('a long result');
    expect(await files.read('~spilled/4-3')).toBeUndefined();
  });

  it('sees nothing of another execution or organisation', async () => {
    await files.write('a', bytes('mine'), at(1));
    await blobs.put(blobKeys.spilled(ORG, EXE, 1, 1), bytes('mine'), 'text/plain');
    for (const stranger of [filesOver({ executionId: 'exe_2' }), filesOver({ orgId: 'org_2' })]) {
      expect(await stranger.read('a')).toBeUndefined();
      expect(await stranger.read('~spilled/1-1')).toBeUndefined();
      expect(await stranger.list()).toEqual([]);
      expect(await stranger.delete('a', at(9))).toBe(false);
    }
    expect(await textOf('a')).toBe('mine');
  });

  it('stops at a row of a newer writer instead of half-reading or replacing it', async () => {
    await files.write('a', bytes('x'), at(9));
    const row = await table.get(keys.file(ORG, EXE, 'a'));
    if (row === undefined) throw new Error('no row');
    await table.put({ ...row, v: 2 });
    await expect(files.read('a')).rejects.toBeInstanceOf(UnreadableRow);
    await expect(files.list()).rejects.toBeInstanceOf(UnreadableRow);
    await expect(files.append('a', bytes('y'), at(10))).rejects.toBeInstanceOf(UnreadableRow);
    await expect(files.write('a', bytes('y'), at(2))).rejects.toBeInstanceOf(UnreadableRow);
    await expect(files.write('a', bytes('y'), at(10))).rejects.toBeInstanceOf(UnreadableRow);
    expect(await table.get(keys.file(ORG, EXE, 'a'))).toMatchObject({ v: 2, seq: 9 });
  });

  it('says so when the object behind a row is gone', async () => {
    await files.write('a', bytes('x'), at(1));
    await expect(filesOver({ blobs: { ...blobs, get: async () => undefined } }).read('a')).rejects.toThrow('missing');
  });
});

describe('pages of files', () => {
  it('come sorted, without deleted ones, whole and without doubles', async () => {
    const names = ['b', 'a/1', 'a', 'a#b', 'é', '日', '😀', 'z', 'a b'];
    for (const [n, name] of names.entries()) await files.write(name, bytes(name), at(1, n));
    await files.delete('b', at(2));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const more = cursor === undefined ? {} : { cursor };
      const page = await listFiles({ table, orgId: ORG, executionId: EXE, limit: 3, ...more });
      expect(page.items.length).toBeLessThanOrEqual(3);
      seen.push(...page.items.map(({ path }) => path));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(['a', 'a b', 'a#b', 'a/1', 'z', 'é', '日', '😀']);
    expect((await files.list()).map(({ path }) => path)).toEqual(seen);
  });

  it('go on after a path that was deleted meanwhile, and end without a cursor', async () => {
    for (const [n, name] of ['a', 'b', 'c'].entries()) await files.write(name, bytes(name), at(1, n));
    const page = { table, orgId: ORG, executionId: EXE, limit: 2 };
    expect((await listFiles(page)).nextCursor).toBe('b');
    await files.delete('b', at(2));
    const rest = await listFiles({ ...page, cursor: 'b' });
    expect(rest.items.map(({ path }) => path)).toEqual(['c']);
    expect(rest).not.toHaveProperty('nextCursor');
    expect(await listFiles({ ...page, executionId: 'exe_none' })).toEqual({ items: [] });
  });
});
