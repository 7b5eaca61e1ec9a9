import { describe, expect, it } from 'vitest';
import type { Secrets } from '../../lib/kernel/ports.ts';
import { refusal } from '../support/refusal.ts';

/** What every store of secrets behind the port does. */
export const secretsContract = (subject: () => Secrets): void => {
  describe('secrets', () => {
    it('come back as they were put', async () => {
      await subject().put('org_1/openai', 'sk-Grüße "🎈" \n{"a": 1}');
      expect(await subject().get('org_1/openai')).toBe('sk-Grüße "🎈" \n{"a": 1}');
    });

    it('are undefined where there is none', async () => {
      expect(await subject().get('org_1/none')).toBeUndefined();
    });

    it('are replaced by the next put', async () => {
      await subject().put('org_1/replaced', 'old');
      await subject().put('org_1/replaced', 'new');
      expect(await subject().get('org_1/replaced')).toBe('new');
    });

    it('of one organisation are not those of another', async () => {
      await subject().put('org_1/own', 'mine');
      expect(await subject().get('org_2/own')).toBeUndefined();
    });

    it('are gone after a delete, and deleting nothing is fine', async () => {
      await subject().put('org_1/gone', 'value');
      await subject().delete('org_1/gone');
      await subject().delete('org_1/gone');
      expect(await subject().get('org_1/gone')).toBeUndefined();
    });

    it('hold up to 4,096 bytes', async () => {
      await subject().put('org_1/long', 'x'.repeat(4096));
      expect(await subject().get('org_1/long')).toHaveLength(4096);
    });

    it.each([
      ['nothing', ''],
      ['more than 4,096 bytes', 'ü'.repeat(2049)],
    ])('refuse %s, without repeating it', async (_, value) => {
      const error = String(await refusal(subject().put('org_1/refused', value)));
      expect(error).toMatch(/org_1\/refused/);
      expect(error).not.toContain('ü');
      expect(await subject().get('org_1/refused')).toBeUndefined();
    });

    it.each(['', 'with space', 'ü', 'a#b'])('refuse the name "%s"', async (name) => {
      expect(await refusal(subject().put(name, 'value'))).toBeInstanceOf(Error);
      expect(await refusal(subject().get(name))).toBeInstanceOf(Error);
    });
  });
};
