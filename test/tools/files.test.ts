import { beforeEach, describe, expect, it } from 'vitest';
import { appendFile } from '../../lib/tools/append-file.ts';
import { deleteFile } from '../../lib/tools/delete-file.ts';
import { listFilesTool } from '../../lib/tools/list-files.ts';
import { readFile } from '../../lib/tools/read-file.ts';
import { writeFile } from '../../lib/tools/write-file.ts';
import { makeToolRun } from './tool-context.ts';

let { files, run } = makeToolRun();
beforeEach(() => {
  ({ files, run } = makeToolRun());
});

describe('the file tools', () => {
  it('write, add, list, read and delete', async () => {
    expect(await run(listFilesTool, {})).toEqual({ ok: true, text: 'There are no files yet.' });
    expect(await run(writeFile, { path: 'a.md', content: 'é' })).toEqual({ ok: true, text: 'Wrote 2 bytes to a.md.' });
    expect(await run(appendFile, { path: 'a.md', content: '!' })).toEqual({ ok: true, text: 'Added 1 byte to a.md.' });
    expect(await run(listFilesTool, {})).toEqual({ ok: true, text: '1 file:\n- a.md (3 bytes)' });
    expect(await run(readFile, { path: 'a.md' })).toEqual({ ok: true, text: '[a.md, all 2 characters]\né!' });
    expect(await run(deleteFile, { path: 'a.md' })).toEqual({ ok: true, text: 'Deleted a.md.' });
    expect(await run(deleteFile, { path: 'a.md' })).toMatchObject({ ok: false });
    expect(await run(readFile, { path: 'a.md' })).toMatchObject({
      ok: false,
      text: expect.stringContaining('list_files'),
    });
  });

  it('answer bad paths and sizes with a sentence, and fail the step for anything else', async () => {
    for (const path of ['../x', '/etc/passwd', '~x']) {
      for (const tool of [writeFile, appendFile]) {
        expect(await run(tool, { path, content: 'x' })).toMatchObject({
          ok: false,
          text: expect.stringContaining('path'),
        });
      }
      expect(await run(deleteFile, { path })).toMatchObject({ ok: false });
      expect(await run(readFile, { path })).toMatchObject({ ok: false });
    }
    const big = await run(writeFile, { path: 'x', content: 'x'.repeat(1_000_001) });
    expect(big).toMatchObject({ ok: false, text: expect.stringContaining('at most 1000000') });
    files.read = () => Promise.reject(new Error('the table is away'));
    await expect(run(readFile, { path: 'x' })).rejects.toThrow('the table is away');
  });

  it('act in the order of their calls: all name one resource', () => {
    const args = { path: 'a', content: 'x' };
    const named = [writeFile.resource?.(args), appendFile.resource?.(args), readFile.resource?.(args)];
    expect(new Set([...named, listFilesTool.resource?.({}), deleteFile.resource?.(args)])).toEqual(new Set(['files']));
    expect(writeFile.effect(args, {})).toBe('idempotent');
    expect(readFile.effect(args, {})).toBe('none');
  });
});

describe('read_file', () => {
  it('reads in pages that give the whole text back, and halves no character', async () => {
    const text = '0123456789😀'.repeat(2_500);
    await files.write('long.txt', Buffer.from(text), { seq: 1, n: 0 });
    let offset: number | undefined;
    let read = '';
    for (let pages = 0; pages < 10; pages++) {
      const page = await run(readFile, { path: 'long.txt', ...(offset === undefined ? {} : { offset }) });
      const part = page.text.slice(page.text.indexOf('\n') + 1);
      expect(part.length).toBeLessThanOrEqual(8_001);
      expect(part.isWellFormed()).toBe(true);
      read += part;
      const next = /read on with offset (\d+)\]/.exec(page.text)?.[1];
      if (next === undefined) break;
      offset = Number(next);
    }
    expect(read).toBe(text);
  });

  it('reads a part, and says when there is nothing', async () => {
    await files.write('a', Buffer.from('abcdef'), { seq: 1, n: 0 });
    await files.write('empty', Buffer.from(''), { seq: 1, n: 1 });
    const part = await run(readFile, { path: 'a', offset: 2, limit: 2 });
    expect(part.text).toBe('[a, characters 2 to 4 of 6; read on with offset 4]\ncd');
    expect(await run(readFile, { path: 'a', offset: 6 })).toMatchObject({ ok: false });
    expect(await run(readFile, { path: 'empty' })).toEqual({ ok: true, text: '[empty is empty]' });
  });

  it('says that a file is no text', async () => {
    await files.write('a.png', Uint8Array.from([137, 80, 78, 71, 255]), { seq: 1, n: 0 });
    await files.write('nul', Uint8Array.from([65, 0, 66]), { seq: 1, n: 1 });
    for (const path of ['a.png', 'nul']) {
      expect(await run(readFile, { path })).toMatchObject({
        ok: false,
        text: expect.stringContaining('not a text file'),
      });
    }
  });

  it('lists at most 500 names', async () => {
    for (let n = 0; n < 501; n++) await files.write(`f${String(n).padStart(3, '0')}`, Buffer.from('x'), { seq: 1, n });
    const { text } = await run(listFilesTool, {});
    expect(text.split('\n')).toHaveLength(502);
    expect(text).toMatch(/^501 files:\n- f000 \(1 byte\)[\s\S]*… and 1 more$/);
  });
});
