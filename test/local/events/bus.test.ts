import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type BusEvent, createBus } from '../../../local/events/bus.ts';
import { rateMs } from '../../../local/events/schedule.ts';
import type { LocalRule } from '../../../local/template/assembly.ts';
import { fixtureAssembly } from '../fixtures/assembly.ts';

const rule = (name: string, more: Partial<LocalRule> = {}): LocalRule => ({
  logicalId: name,
  name,
  arn: `arn:rule/${name}`,
  busName: 'default',
  schedule: undefined,
  pattern: undefined,
  enabled: true,
  targets: [{ arn: `arn:function/${name}`, input: undefined }],
  ...more,
});
const event = (detailType: string): BusEvent => ({
  version: '0',
  id: 'e1',
  'detail-type': detailType,
  source: 'shop',
  account: '000000000000',
  time: '2026-01-01T00:00:00Z',
  region: 'us-east-1',
  resources: [],
  detail: { agentId: 'agt_1' },
});

let invoked: [string, unknown][] = [];
let allowed = true;
const makeBus = (...rules: LocalRule[]) =>
  createBus({
    assembly: fixtureAssembly({ rules }),
    region: 'us-east-1',
    account: '000000000000',
    invokeAsync: (arn, payload) => invoked.push([arn, JSON.parse(payload)]),
    mayInvoke: () => allowed,
    echo: () => {},
  });

beforeEach(() => {
  invoked = [];
  allowed = true;
  vi.useFakeTimers({ now: Date.parse('2026-01-02T03:04:05.678Z') });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a schedule fires at the start and then by its rate, until the bus is closed', () => {
  const bus = makeBus(
    rule('app-tick', { schedule: 'rate(1 minute)' }),
    rule('off', { schedule: 'rate(1 minute)', enabled: false }),
  );
  bus.start();
  expect(invoked).toEqual([
    [
      'arn:function/app-tick',
      expect.objectContaining({
        'detail-type': 'Scheduled Event',
        source: 'aws.events',
        time: '2026-01-02T03:04:05Z',
        resources: ['arn:rule/app-tick'],
        detail: {},
      }),
    ],
  ]);
  vi.advanceTimersByTime(120_000);
  expect(invoked).toHaveLength(3);
  bus.close();
  vi.advanceTimersByTime(120_000);
  expect(invoked).toHaveLength(3);
});

test('an event goes to matching rules of its own bus, as it is or as the target says', () => {
  const pattern = { 'detail-type': ['Run Agent'] };
  const bus = makeBus(
    rule('plain', { busName: 'app', pattern }),
    rule('fixed', { busName: 'app', pattern, targets: [{ arn: 'arn:function/fixed', input: '{"a":1}' }] }),
    rule('elsewhere', { pattern }),
    rule('disabled', { busName: 'app', pattern, enabled: false }),
  );
  bus.onEvent('app', event('Run Agent'));
  bus.onEvent('app', event('Other'));
  expect(invoked).toEqual([
    ['arn:function/plain', event('Run Agent')],
    ['arn:function/fixed', { a: 1 }],
  ]);
});

test('a rule fires by its name or the last part of it', () => {
  const bus = makeBus(rule('baton-dev-tick', { schedule: 'rate(1 minute)' }));
  expect([bus.fire('tick'), bus.fire('baton-dev-tick'), bus.fire('ick'), bus.fire('nope')]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(invoked).toHaveLength(2);
});

test('without a permission nothing is invoked', () => {
  allowed = false;
  const bus = makeBus(rule('tick', { schedule: 'rate(1 minute)' }));
  bus.fire('tick');
  expect(invoked).toEqual([]);
});

test.each(['cron(0 12 * * ? *)', 'rate(1 minutes)', 'rate(2 minute)', 'rate(0 minutes)', 'every minute'])(
  'the schedule %s is refused before anything fires',
  (schedule) => {
    expect(() => makeBus(rule('x', { schedule }))).toThrow(schedule);
  },
);

test.each([
  ['rate(1 minute)', 60_000],
  ['rate(5 minutes)', 300_000],
  ['rate(1 hour)', 3_600_000],
  ['rate(2 days)', 172_800_000],
])('%s is %d ms', (expression, ms) => {
  expect(rateMs(expression)).toBe(ms);
});
