import { describe, expect, test } from 'vitest';
import { parseArguments } from '../../lib/tools/run.ts';
import { endOfWait, wait } from '../../lib/tools/wait.ts';

const NOW = Date.UTC(2026, 0, 1);
const parse = (args: object) => parseArguments(wait, JSON.stringify(args));

describe('the arguments of wait', () => {
  test.each([
    [{ seconds: 1 }, NOW + 1_000],
    [{ seconds: 31_536_000 }, NOW + 31_536_000_000],
    [{ until: '2026-01-01T02:00:00+01:00', why: 'the market opens' }, NOW + 3_600_000],
    [{ until: '2025-12-31T00:00:00Z', wakeOnInput: false }, NOW - 86_400_000],
  ])('%j', (args, until) => {
    const parsed = parse(args);
    if (!parsed.ok) throw new Error(parsed.problem);
    expect(endOfWait(parsed.args, NOW)).toEqual({ ok: true, until });
  });

  test.each([
    [{}, 'either seconds or until'],
    [{ seconds: 5, until: '2026-01-01T02:00:00Z' }, 'either seconds or until'],
    [{ seconds: 0 }, 'at least 1'],
    [{ seconds: 1.5 }, 'a whole number'],
    [{ seconds: 31_536_001 }, 'at most 31536000'],
    [{ until: '2026-01-01T02:00:00' }, '"until" is'],
    [{ until: 'tomorrow' }, '"until" is'],
    [{ seconds: 5, forever: true }, '"forever"'],
  ])('%j is refused in words', (args, words) => {
    const parsed = parse(args);
    expect(parsed.ok).toBe(false);
    if (!parsed.ok) expect(parsed.problem).toContain(words);
  });

  test('a date more than a year ahead is answered with what to do instead', () => {
    const end = endOfWait({ until: '2027-01-02T00:00:00Z' }, NOW);
    expect(end).toEqual({ ok: false, problem: expect.stringContaining('more than a year ahead') });
  });
});
