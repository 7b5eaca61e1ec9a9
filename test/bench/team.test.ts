import { expect, test } from 'vitest';
import { markdownOf, verdictOf } from '../../bench/report.ts';
import { teamFigures } from '../../bench/team/figures.ts';
import { arrivals, figuresOfLoad, type LoadFigures } from '../../bench/team/load.ts';
import { LOADS } from '../../bench/team/measure.ts';
import type { Kept } from '../../bench/team/team.ts';

const talk = (asked: number, ms: number) => ({ thread: 't', at: 0, asked, ms });
const kept = (seconds: number): Kept => ({
  id: 'trg',
  threadId: 'thr',
  text: '[t] x',
  state: 'decided',
  receivedAt: '2026-01-01T00:00:00.000Z',
  ticketIds: [],
  decision: { decision: 'ignore', at: new Date(Date.parse('2026-01-01T00:00:00.000Z') + seconds * 1000).toISOString() },
});

test('forty a minute come a second and a half apart, each up to half of that early or late, the same in every run', () => {
  const times = arrivals({ perMinute: 40, seconds: 75 }, 7);
  expect(times).toHaveLength(50);
  for (const [n, at] of times.entries()) {
    expect(at).toBeGreaterThanOrEqual(Math.max(0, 1_500 * (n - 0.5)));
    expect(at).toBeLessThanOrEqual(1_500 * (n + 0.5));
  }
  expect(arrivals({ perMinute: 40, seconds: 75 }, 7)).toEqual(times);
  expect(arrivals({ perMinute: 40, seconds: 75 }, 8)).not.toEqual(times);
});

test('a load has its mean batch, the time of the model for each decision, and how late decisions are', () => {
  expect(figuresOfLoad([kept(2), kept(4)], [talk(1, 3_000), talk(3, 4_000)])).toEqual({
    decided: 4,
    batch: 2,
    modelSeconds: 1.75,
    p50: 3_000,
    p95: 3_900,
  });
  expect(figuresOfLoad([], [])).toMatchObject({
    decided: 0,
    batch: undefined,
    modelSeconds: undefined,
    p50: undefined,
  });
});

const none = {
  requests: 1,
  writeUnits: 1,
  readUnits: 1,
  sqsRequests: 1,
  busEvents: 0,
  lambdaRequests: 1,
  gbSeconds: 1,
};
const units = { rounds: 1, work: none };
const measured = (busy: Partial<LoadFigures>, without: number) =>
  teamFigures({
    units: { dropped: units, ignored: units, decided: units, accepted: units },
    pace: {
      loads: LOADS.flat().map((load) => ({
        load,
        figures: {
          decided: 1,
          batch: 1,
          modelSeconds: 3,
          p50: 1,
          p95: 1,
          ...(load.name === 'five-busy' && busy),
        },
      })),
      direct: { messages: 40, decisionsWith: 28, decisionsWithout: without },
    },
  });

test.each([
  [{ batch: 2, modelSeconds: 1.5 }, 35, []],
  [{ batch: 1.99, modelSeconds: 1.5 }, 35, ['team.five-busy.batch']],
  [{ batch: 2, modelSeconds: 1.51 }, 35, ['team.model.ratio']],
  [{ batch: 2, modelSeconds: 1.5 }, 34, ['team.direct.ratio']],
])('what was promised of %o and %i decisions is judged', (busy, without, failed) => {
  const figures = measured(busy, without);
  expect(figures.filter((figure) => verdictOf(figure) === 'FAIL').map(({ id }) => id)).toEqual(failed);
  expect(new Set(figures.map(({ id }) => id)).size).toBe(figures.length);
  expect(new Set(figures.map(({ label }) => label)).size).toBe(figures.length);
  expect(markdownOf(figures)).toContain('| ≥ 2 | ');
});
