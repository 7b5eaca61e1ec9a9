import { describe, expect, test } from 'vitest';
import type { FeedRow } from '../../lib/execution/feed.ts';
import type { Pinned } from '../../lib/execution/rows.ts';
import type { Window } from '../../lib/execution/step/load.ts';
import { buildPrompt } from '../../lib/execution/step/prompt.ts';
import { cutAt, summaryMessages, tokensOf } from '../../lib/execution/step/summarise.ts';

const said = (seq: number): FeedRow => ({
  v: 1, kind: 'user', seq, n: 1, at: 1, origin: 'key', content: `step ${seq} ${'x'.repeat(390)}`,
}); // biome-ignore format: figures that do not matter
const rows = Array.from({ length: 10 }, (_, index) => said(index + 1));
const pinned = {
  goals: ['Count the bees.'],
  instructions: [],
  constraints: [],
  contextTokens: 800,
} as unknown as Pinned;
const windowOf = (all: readonly FeedRow[], notes?: string): Window => ({
  pinned,
  rows: all,
  summary: notes === undefined ? undefined : ({ kind: 'summary', content: notes } as Window['summary']),
  inputs: [],
});
const stepsIn = (text: string): readonly number[] => [...text.matchAll(/step (\d+) x/g)].map(([, seq]) => Number(seq));

describe('a window that overflows', () => {
  const cut = cutAt(rows, 800);

  test('keeps its newest steps word for word, half a window of them', () => {
    expect(cut).toBeGreaterThan(1);
    const kept = rows.filter(({ seq }) => seq >= cut);
    expect(tokensOf(kept)).toBeLessThanOrEqual(400);
    expect(tokensOf(rows.filter(({ seq }) => seq >= cut - 1))).toBeGreaterThan(400);
    const prompt = JSON.stringify(buildPrompt(windowOf(kept, 'Seven bees.'), 0));
    expect(stepsIn(prompt)).toEqual(kept.map(({ seq }) => seq));
    expect(prompt).toContain('Seven bees.');
  });

  test('has every older step condensed, with the notes that there were, and none of those it keeps', () => {
    const asked = summaryMessages(windowOf(rows, 'Two bees.'), cut)
      .map(({ content }) => content)
      .join('\n');
    expect(stepsIn(asked)).toEqual(rows.filter(({ seq }) => seq < cut).map(({ seq }) => seq));
    expect(asked).toContain('Two bees.');
    expect(asked).toContain('Count the bees.');
  });

  test('keeps the newest step however long it is', () => {
    expect(cutAt(rows, 10)).toBe(10);
  });
});
