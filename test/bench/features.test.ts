import { describe, expect, test } from 'vitest';
import { rollUpOf } from '../../bench/books.ts';
import { costPerThousand, type EventUse } from '../../bench/cost.ts';
import { featureFigures, type MeasuredFeatures } from '../../bench/feature-figures.ts';
import { addedBy, medianWork, type Work, workLines, workOf } from '../../bench/observe.ts';
import { FULL } from '../../bench/options.ts';
import { PRICES } from '../../bench/prices.ts';
import { baselineOf, markdownOf, verdictOf } from '../../bench/report.ts';
import { judgeStorm, type Storm } from '../../bench/storm.ts';
import { stepsBetween } from '../../bench/workflows.ts';
import type { TracedRequest } from '../../local/gateway/trace.ts';
import type { LocalFunction } from '../../local/template/assembly.ts';

const fn = (name: string, memoryMb = 256): LocalFunction => ({
  logicalId: name,
  name: `baton-dev-${name}`,
  arn: `arn:${name}`,
  roleLogicalId: `${name}Role`,
  codeDir: '/',
  handler: 'index.handler',
  environment: {},
  timeoutSeconds: 30,
  memoryMb,
});
const assembly = { functions: ['api', 'bootstrap', 'step', 'effect', 'tick', 'sweep'].map((name) => fn(name)) };

const at = (start: number, action: string, more: Partial<TracedRequest> = {}): TracedRequest => ({
  start,
  end: start + 10,
  principal: 'stepRole',
  service: 'dynamodb',
  action,
  status: 200,
  read: 0,
  write: 0,
  messages: 0,
  invocation: 'i1',
  ...more,
});
const poll = (action: string, messages = 0) => at(0, action, { service: 'sqs', messages, invocation: '' });

describe('what the platform did', () => {
  test('people, deployments and looks of the clock are left out', () => {
    const kept = [
      at(0, 'UpdateItem'),
      at(0, 'Query'),
      at(0, 'UpdateItem', { principal: 'tickRole' }),
      poll('ReceiveMessage', 1),
    ];
    const others = [
      at(0, 'PutItem', { principal: 'apiRole' }),
      at(0, 'PutItem', { principal: 'bootstrapRole' }),
      at(0, 'UpdateItem', { principal: 'operator' }),
      at(0, 'Query', { principal: 'tickRole' }),
      at(0, 'Query', { principal: 'sweepRole' }),
      poll('ReceiveMessage'),
    ];
    expect(workLines([...kept, ...others], assembly)).toEqual(kept);
  });

  test('sums over all functions; the clock comes anyway, so its invocations are free', () => {
    const lines = [
      poll('ReceiveMessage', 1),
      at(0, 'UpdateItem', { write: 2 }),
      at(90, 'GetItem', { read: 1.5 }),
      at(0, 'PutEvents', { principal: 'effectRole', service: 'events', invocation: 'i2' }),
      at(40, 'SendMessage', { principal: 'tickRole', service: 'sqs', invocation: 'i3' }),
      poll('DeleteMessage'),
    ];
    const { gbSeconds, ...counted } = workOf(lines, assembly);
    expect(counted).toEqual({
      requests: 6,
      writeUnits: 2,
      readUnits: 1.5,
      sqsRequests: 3,
      busEvents: 1,
      lambdaRequests: 2,
    });
    // 100 ms, 10 ms and 10 ms at a quarter of a gigabyte.
    expect(gbSeconds).toBeCloseTo(0.12 / 4, 9);
  });

  test('nothing at all', () => {
    expect(Object.values(workOf([], assembly))).toEqual(Array(7).fill(0));
  });

  test('what one thing adds to another is shared out among its events', () => {
    const more = workOf([at(0, 'PutItem', { write: 7 }), at(20, 'GetItem', { read: 3 })], assembly);
    const less = workOf([at(0, 'PutItem', { write: 1 })], assembly);
    expect(addedBy(more, less, 2)).toMatchObject({ writeUnits: 3, readUnits: 1.5, requests: 0.5, lambdaRequests: 0 });
  });
});

test('one that took more than the others does not count', () => {
  const work = (write: number) =>
    workOf([at(0, 'PutItem', { write }), at(20, 'GetItem', { read: 9 - write })], assembly);
  expect(medianWork([work(2), work(8), work(3)])).toMatchObject({ writeUnits: 3, readUnits: 6, requests: 2 });
});

describe('steps of a workflow', () => {
  const step = (name: string, start: number, write: number, last = 'UpdateItem') => [
    at(start, 'UpdateItem', { invocation: name, write: 1 }),
    at(start + 20, 'PutItem', { invocation: name, write }),
    at(start + 40, last, { invocation: name, write: 1 }),
  ];
  const lines = [
    ...step('work-2', 200, 3),
    ...step('plan', 0, 20),
    ...step('work-1', 100, 1),
    ...step('end', 300, 9, 'TransactWriteItems'),
    at(150, 'UpdateItem', { invocation: 'refused', status: 400 }),
    ...Array.from({ length: 4 }, () => [poll('ReceiveMessage', 1), poll('DeleteMessage')]).flat(),
  ];

  test('those before, the one that ends the run and copies of messages are not mixed in', () => {
    expect(stepsBetween(lines, assembly, 'stepRole', 1)).toMatchObject({
      rounds: 3,
      work: { writeUnits: 4, requests: 5, sqsRequests: 2, lambdaRequests: 1 },
    });
  });

  test('none that fits', () => {
    expect(stepsBetween(lines, assembly, 'stepRole', 3)).toBeUndefined();
    expect(stepsBetween([], assembly, 'stepRole', 0)).toBeUndefined();
  });
});

describe('a roll-up', () => {
  const commit = [at(0, 'UpdateItem'), at(20, 'SendMessage', { service: 'sqs' })];
  const rollUp = [at(40, 'GetItem', { read: 1 }), at(60, 'GetItem', { read: 1 }), at(80, 'TransactWriteItems')];

  test('is two reads and a transaction, whatever comes before and after', () => {
    expect(rollUpOf([...rollUp.toReversed(), ...commit, at(100, 'GetItem')])).toEqual(rollUp);
  });

  test('is not the transaction that ends a run', () => {
    expect(rollUpOf([...commit, at(40, 'TransactWriteItems')])).toEqual([]);
    expect(rollUpOf(commit)).toEqual([]);
    expect(rollUpOf([])).toEqual([]);
  });
});

describe('a storm', () => {
  test('counts what fired, what fired again and what never did; the first fire has the lag', () => {
    const fires = new Map([
      ['a', [1_300, 1_100]],
      ['b', [1_050]],
      ['c', []],
    ]);
    expect(judgeStorm(3, 1_000, fires)).toEqual({ count: 3, lags: [100, 50], fired: 2, again: 1 });
  });
});

const use: EventUse = {
  writeUnits: 8,
  readUnits: 16,
  sqsRequests: 4,
  busEvents: 2,
  lambdaRequests: 5,
  gbSeconds: 0.3,
};

test('dollars for a thousand events are the sum of their parts', () => {
  const nothing = { writeUnits: 0, readUnits: 0, sqsRequests: 0, busEvents: 0, lambdaRequests: 0, gbSeconds: 0 };
  const parts = (Object.keys(use) as (keyof EventUse)[]).map((member) =>
    costPerThousand({ ...nothing, [member]: use[member] }, PRICES),
  );
  expect(parts.map((part) => Number(part.toFixed(9)))).toEqual([0.005, 0.002, 0.002, 0.002, 0.001, 0.00400002]);
  expect(costPerThousand(use, PRICES)).toBeCloseTo(
    parts.reduce((sum, part) => sum + part, 0),
    12,
  );
});

describe('the figures', () => {
  const work: Work = { ...use, requests: 30 };
  const step = { rounds: 5, work };
  const storm = (count: number, lag: number): Storm => ({
    count,
    lags: Array.from({ length: count }, () => lag),
    fired: count,
    again: 0,
  });
  const measured = (count: number, lag: number): MeasuredFeatures => ({
    features: {
      workflow: { task: step, pop: step, condition: undefined },
      wait: { short: work, long: work },
      schedule: { fire: work },
      webhook: { one: { work, httpRequests: 1 }, three: { work, httpRequests: 3 } },
      rollUp: work,
      idleSchedules: { readUnits: 0, writeUnits: 0 },
    },
    storm: { schedules: storm(count, lag), waits: storm(count, lag) },
  });
  const figures = featureFigures(measured(FULL.storm, 2_000));
  const value = (id: string): number | undefined => figures.find((one) => one.id === id)?.value;

  test('everything that is counted has its figures, and each its own name', () => {
    const step = ['rounds', 'writes', 'reads', 'sqs', 'usd'];
    const event = ['requests', 'writes', 'reads', 'sqs', 'usd'];
    const storm = ['count', 'fired', 'again', 'p50', 'p95', 'most'];
    const expected = [
      ...step.map((each) => `workflow.task.${each}`),
      ...step.map((each) => `workflow.pop.${each}`),
      ...step.map((each) => `workflow.condition.${each}`),
      ...event.map((each) => `wait.short.${each}`),
      ...event.map((each) => `wait.long.${each}`),
      ...storm.map((each) => `storm.waits.${each}`),
      ...event.map((each) => `schedule.fire.${each}`),
      'schedule.idle',
      'schedule.idle.usd',
      ...storm.map((each) => `storm.schedules.${each}`),
      ...event.map((each) => `webhook.one.${each}`),
      'webhook.one.http',
      ...event.map((each) => `webhook.three.${each}`),
      'webhook.three.http',
      ...event.map((each) => `usage.${each}`),
      'usage.step.writes',
      'usage.step.reads',
      'usage.step.usd',
    ];
    expect(figures.map(({ id }) => id)).toEqual(expected);
    expect(new Set(figures.map(({ label }) => label)).size).toBe(figures.length);
    expect(markdownOf(figures).split('\n')).toHaveLength(figures.length + 2);
  });

  test('what was not seen is no zero, and stays out of the baseline', () => {
    expect(value('workflow.condition.writes')).toBeUndefined();
    const { figures: kept } = baselineOf(figures, '2026-01-02', 'box');
    expect(kept['workflow.condition.usd']).toBeUndefined();
    expect(kept).toMatchObject({ 'workflow.pop.writes': 8, 'schedule.idle': 0, 'webhook.three.http': 3 });
  });

  test('roll-ups are shared out among the twelve steps of a minute', () => {
    expect(value('usage.step.writes')).toBeCloseTo(8 / 12, 12);
    expect(value('usage.step.usd')).toBeCloseTo(((value('usage.usd') ?? 0) * 1_000) / 12, 12);
  });

  test.each([
    [FULL.storm, 3_000, 'pass'],
    [FULL.storm, 3_001, 'FAIL'],
    [20, 9_000, ''],
  ] as const)('%d due in one second, %d ms late: %s', (count, lag, verdict) => {
    const all = featureFigures(measured(count, lag));
    for (const id of ['storm.waits.p95', 'storm.schedules.p95']) {
      const found = all.find((one) => one.id === id);
      expect(found?.value).toBe(lag / 1_000);
      expect(found && verdictOf(found)).toBe(verdict);
    }
  });
});
