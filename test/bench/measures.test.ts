import { describe, expect, test } from 'vitest';
import { delayOf, judge } from '../../bench/crash.ts';
import { curveAt, FULL_WINDOW, type Gap, gapsOf } from '../../bench/curve.ts';
import {
  goalOf,
  isSummary,
  type ModelCall,
  POST_STEP,
  repliesIn,
  replyTo,
  STEP_CHARS,
  scriptOf,
  windowChars,
} from '../../bench/model/script.ts';
import { feedBytes } from '../../bench/stored.ts';
import { FEED_ATTRIBUTES, feedItem } from '../../lib/execution/feed.ts';

const call = (step: number | undefined, at: number, run = 'r'): ModelCall => ({ run, at, step, windowChars: 70_000 });

describe('gaps between model calls', () => {
  test('a summary ends one gap and begins none; its own time is told apart', () => {
    const { gaps, summaryMs } = gapsOf([call(1, 0), call(2, 10), call(undefined, 25), call(3, 65), call(4, 80)]);
    expect(gaps.map(({ step, ms }) => [step, ms])).toEqual([
      [1, 10],
      [3, 15],
    ]);
    expect(summaryMs).toEqual([40]);
  });
});

describe('a point of the curve', () => {
  const gaps = Array.from({ length: 400 }, (_, index): Gap => {
    const step = index + 1;
    return { step, ms: step < 200 ? 10 : 20, windowChars: step % 2 === 0 ? FULL_WINDOW : FULL_WINDOW - 1 };
  });

  test('only full windows count', () => {
    expect(curveAt(gaps, 300)).toEqual({ at: 300, p50: 20, samples: 51, windowKb: 64 });
  });

  test('early on no window is full yet', () => {
    expect(curveAt(gaps, 10)).toMatchObject({ p50: 10, samples: 11 });
  });

  test('beyond the end of the run there is nothing', () => {
    expect(curveAt(gaps, 1_000)).toEqual({ at: 1_000, p50: undefined, samples: 0, windowKb: undefined });
  });
});

describe('crashes', () => {
  const effect = (name: string, key: string, at: number) => ({ effect: name, key, at });
  const kill = (name: string, at: number) => ({ effect: name, afterMs: 1, at });

  test('the next step is the first later one of the same run', () => {
    const calls = [call(POST_STEP, 0, 'a'), call(POST_STEP, 5_900, 'a'), call(POST_STEP + 1, 6_000, 'a')];
    const judged = judge([effect('a/2', 'k', 0), effect('a/2', 'k', 5_950)], [kill('a/2', 10)], calls);
    expect(judged).toEqual({
      kills: 1,
      toNextP50: 5_990,
      toNextMost: 5_990,
      hitInMidStep: 1,
      latestMs: 1,
      twoKeys: 0,
      repeated: 1,
    });
  });

  test('a call before a late kill is not the step after it', () => {
    const calls = [call(POST_STEP + 1, 8, 'a'), call(POST_STEP + 1, 6_010, 'a')];
    expect(judge([effect('a/2', 'k', 0)], [kill('a/2', 10)], calls).toNextMost).toBe(6_000);
  });

  test('an effect under two keys is seen, and a key with two effects', () => {
    expect(judge([effect('a/2', 'k1', 0), effect('a/2', 'k2', 1)], [], []).twoKeys).toBe(1);
    expect(judge([effect('a/2', 'k', 0), effect('b/2', 'k', 1)], [], []).twoKeys).toBe(1);
    expect(judge([effect('a/2', 'k1', 0), effect('b/2', 'k2', 1)], [], [])).toMatchObject({ twoKeys: 0, repeated: 0 });
  });

  test('the delays cover 0 to 6 ms evenly', () => {
    const delays = Array.from({ length: 13 }, (_, index) => delayOf(index)).sort((a, b) => a - b);
    expect(delays).toEqual(Array.from({ length: 13 }, (_, index) => index / 2));
  });
});

describe('the script', () => {
  const script = { run: 'r-1', steps: 3, calls: 1 };
  const noise = (chars: number) => 'x'.repeat(chars);

  test('travels in the goals', () => {
    const messages = [{ role: 'system', content: `Goals:\n1. ${goalOf(script)}\n\nAnd so on.` }];
    expect(scriptOf({ messages })).toEqual(script);
    expect(() => scriptOf({ messages: [{ role: 'user', content: 'hello' }] })).toThrow('no script');
  });

  test('a step brings one kilobyte, in however many calls, and the last one ends the run', () => {
    const chars = (calls: number) =>
      replyTo({ ...script, calls }, 1, noise).calls.reduce(
        (sum, { args }) => sum + String(args.thought ?? '').length,
        0,
      );
    expect(chars(1)).toBe(STEP_CHARS);
    expect(chars(3)).toBeGreaterThan(STEP_CHARS - 3);
    expect(replyTo(script, 4, noise).calls[0]?.name).toBe('finish');
    expect(replyTo(script, undefined, noise).calls).toEqual([]);
  });

  test('the effect is named after run and step', () => {
    const [post] = replyTo({ ...script, post: 'http://127.0.0.1:1/' }, POST_STEP, noise).calls;
    expect(post).toMatchObject({ name: 'http_request', args: { method: 'POST', body: '{"effect":"r-1/2"}' } });
  });

  test('what the model sees', () => {
    const reply = { role: 'assistant', content: 'abc', tool_calls: [{ function: { name: 't', arguments: '12345' } }] };
    const messages = [{ role: 'system', content: 'ab' }, reply, { role: 'tool', content: null }];
    expect(windowChars({ messages })).toBe(10);
    expect(repliesIn({ messages })).toBe(1);
    expect([isSummary({ messages, tools: [] }), isSummary({ messages, tools: [{}] })]).toEqual([true, false]);
  });
});

test('bytes of the feed are those of its text', () => {
  const note = feedItem('o', 'e', { seq: 1, n: 101, at: 1, kind: 'note', content: 'héllo', code: 'c' });
  const stored = Object.entries(note).map(([name, value]) => [name, { S: String(value) }]);
  expect(feedBytes(Object.fromEntries(stored))).toBe(6);
  const calls = { L: [{ M: { id: { S: 'c1' }, name: { S: 'think' }, arguments: { S: '{"a":1}' } } }] };
  expect(feedBytes({ [FEED_ATTRIBUTES.content]: { S: 'héllo' }, [FEED_ATTRIBUTES.calls]: calls })).toBe(6 + 5 + 7);
  expect(feedBytes({ pk: { S: 'a' } })).toBe(0);
});
