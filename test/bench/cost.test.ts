import { describe, expect, test } from 'vitest';
import {
  costPerMillion,
  gbSeconds,
  ingestedBytes,
  NETWORK_MS,
  ownMs,
  pollsPerDay,
  waitingPerMillion,
} from '../../bench/cost.ts';
import { PRICES } from '../../bench/prices.ts';

const NOTHING = { writeUnits: 0, readUnits: 0, sqsRequests: 0, lambdaRequests: 0, gbSeconds: 0, logBytes: 0 };

describe('dollars for a million steps', () => {
  test.each([
    ['five write units', { writeUnits: 5 }, 3.125],
    ['sixteen read units', { readUnits: 16 }, 2],
    ['four requests about messages of a tenant', { sqsRequests: 4 }, 2],
    ['one invocation', { lambdaRequests: 1 }, 0.2],
    ['a tenth of a second at 256 MB', { gbSeconds: gbSeconds(100, 256) }, 0.333335],
    ['a kilobyte of logs', { logBytes: 1_000 }, 0.5],
  ])('%s', (_, use, expected) => {
    expect(costPerMillion({ ...NOTHING, ...use }, PRICES).total).toBeCloseTo(expected, 9);
  });

  test('the total is the sum of its parts', () => {
    const cost = costPerMillion(
      { writeUnits: 5, readUnits: 8, sqsRequests: 4, lambdaRequests: 1, gbSeconds: 0.02, logBytes: 700 },
      PRICES,
    );
    const { total, ...parts } = cost;
    expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBeCloseTo(total, 12);
    expect(Object.values(parts).every((part) => part > 0)).toBe(true);
  });

  test('the prices say when and where they were read', () => {
    expect(PRICES.asOf).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(PRICES.sources.every((source) => source.startsWith('https://'))).toBe(true);
  });
});

test('a share of a core stretches the work, and above a whole core nothing gets faster', () => {
  expect(ownMs(10, 4, 1_769)).toBe(10 + 4 * NETWORK_MS);
  expect(ownMs(10, 0, 1_769 / 4)).toBe(40);
  expect(ownMs(10, 0, 4_096)).toBe(10);
});

test('every line of a log is charged with its overhead, and Lambda adds none of its own', () => {
  expect(ingestedBytes(250, 1)).toBe(276);
  expect(ingestedBytes(250, 3)).toBe(328);
  expect(ingestedBytes(0, 0)).toBe(0);
});

test('waiting for a model is paid by memory and time', () => {
  expect(waitingPerMillion(3, 256, PRICES)).toBeCloseTo(10, 3);
});

test('four idle queues', () => {
  expect(pollsPerDay(4)).toBe(86_400);
});
