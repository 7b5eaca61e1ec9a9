import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redact } from '../../lib/openai/redact.ts';

describe('redact', () => {
  it('takes out keys as providers quote them, and leaves the rest', () => {
    expect(redact('Incorrect API key provided: sk-abc***wxyz. See the docs.', 'other-key-000')).toBe(
      'Incorrect API key provided: [key] See the docs.',
    );
    expect(redact('Bad header "Bearer abc.def"', '')).toBe('Bad header "Bearer [key]"');
    expect(redact('key 12ab****89ef is unknown', '')).toBe('key [key] is unknown');
    expect(redact('The task-list of model gpt-5 is broken', 'k')).toBe('The task-list of model gpt-5 is broken');
  });

  it('leaves no eight characters of a key from its ends, wherever they stand', () => {
    const key = fc.stringMatching(/^[A-Za-z0-9_-]{12,60}$/);
    const words = fc.constantFrom('', 'The key ', ' was refused. ', '\n', '"');
    fc.assert(
      fc.property(key, words, words, fc.nat(60), (secret, before, after, cut) => {
        for (const quoted of [secret, secret.slice(0, Math.max(8, cut)), secret.slice(-Math.max(8, cut))]) {
          const safe = redact(before + quoted + after, secret);
          if (safe.includes(secret.slice(0, 8)) || safe.includes(secret.slice(-8))) return false;
        }
        return true;
      }),
    );
  });

  it('keeps to 500 characters', () => {
    expect(redact('x '.repeat(100_000), 'some-long-key-1234').length).toBeLessThanOrEqual(500);
  });
});
