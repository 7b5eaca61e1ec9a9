import { describe, expect, it } from 'vitest';
import type { Blobs } from '../../lib/kernel/ports.ts';
import { refusal } from '../support/refusal.ts';

/** What every store of objects behind the port does. */
export const blobsContract = (subject: () => Blobs): void => {
  describe('objects', () => {
    it.each([
      ['text', new TextEncoder().encode('Grüße 🎈')],
      ['nothing', new Uint8Array()],
      ['every byte', Uint8Array.from({ length: 256 }, (_, n) => n)],
      ['two megabytes', new Uint8Array(2 * 1024 * 1024).fill(7)],
    ])('come back as they went: %s', async (name, body) => {
      const key = `org/org_1/exec/exe_1/files/${name}`;
      await subject().put(key, body, 'application/octet-stream');
      const read = await subject().get(key);
      expect(Buffer.from(read ?? []).equals(body)).toBe(true);
      expect(read).toBeDefined();
    });

    it.each(['a b/c', 'ü/🎈', "a+b&c=d?e#f'(g)*", 'a//b', 'a/./b'])('keep any key: %s', async (key) => {
      await subject().put(key, new TextEncoder().encode(key), 'text/plain');
      expect(Buffer.from((await subject().get(key)) ?? []).toString()).toBe(key);
    });

    it('are undefined where there is none', async () => {
      expect(await subject().get('org/org_1/none')).toBeUndefined();
    });

    it('may be put again with the same content', async () => {
      const body = new Uint8Array([1, 2, 3]);
      await subject().put('again', body, 'text/plain');
      await subject().put('again', body, 'text/plain');
      expect([...((await subject().get('again')) ?? [])]).toEqual([1, 2, 3]);
    });

    it('share no memory with the writer or a reader', async () => {
      const body = new Uint8Array([1, 2, 3]);
      await subject().put('own', body, 'text/plain');
      body[0] = 9;
      const read = await subject().get('own');
      read?.fill(8);
      expect([...((await subject().get('own')) ?? [])]).toEqual([1, 2, 3]);
    });

    it('need a key', async () => {
      expect(String(await refusal(subject().put('', new Uint8Array(), 'text/plain')))).toMatch(/key .* empty/);
    });
  });
};
