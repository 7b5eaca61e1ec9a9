import { describe, expect, test } from 'vitest';
import { depthOf, invocationsOf, parseTrace, pollerRequestsPerMessage, useOf } from '../../bench/rounds.ts';
import { longRunOf, unitsOf } from '../../bench/steps.ts';
import type { TracedRequest } from '../../local/gateway/trace.ts';

const at = (start: number, end: number, more: Partial<TracedRequest> = {}): TracedRequest => ({
  start,
  end,
  principal: 'StepRole',
  service: 'dynamodb',
  action: 'GetItem',
  status: 200,
  read: 0,
  write: 0,
  messages: 0,
  invocation: 'i1',
  ...more,
});

describe('sequential rounds', () => {
  test.each([
    ['none', [], 0],
    ['one after the other', [at(0, 10), at(11, 20), at(21, 30)], 3],
    ['all at once', [at(0, 10), at(1, 12), at(2, 9)], 1],
    ['two beside one, then one', [at(0, 10), at(2, 30), at(12, 22), at(31, 40)], 3],
    ['a long one beside a chain does not hide the chain', [at(0, 100), at(0, 10), at(11, 20)], 2],
    ['in any order of the file', [at(21, 30), at(0, 10), at(11, 20)], 3],
  ])('%s', (_, requests, rounds) => {
    expect(depthOf(requests)).toBe(rounds);
  });
});

describe('what one invocation takes', () => {
  test('units, SQS requests and the unit of a refused write', () => {
    const use = useOf([
      at(0, 10, { action: 'UpdateItem', write: 1 }),
      at(1, 11, { action: 'Query', read: 12.5 }),
      at(1, 11, { service: 'sqs', action: 'ChangeMessageVisibility' }),
      at(12, 20, { action: 'PutItem', write: 2 }),
      at(21, 30, { action: 'PutItem', status: 400 }),
      at(21, 30, { action: 'Query', status: 400 }),
    ]);
    expect(use).toMatchObject({ rounds: 3, requests: 6, readUnits: 12.5, writeUnits: 4, sqsRequests: 1 });
  });

  test('requests are told apart by invocation and role; a poller belongs to none', () => {
    const trace = [
      at(0, 1),
      at(2, 3, { invocation: 'i2' }),
      at(4, 5),
      at(6, 7, { principal: 'ApiRole' }),
      at(8, 9, { service: 'sqs', action: 'ReceiveMessage', messages: 1, invocation: '' }),
    ];
    expect(invocationsOf(trace, 'StepRole').map((requests) => requests.length)).toEqual([2, 1]);
  });
});

describe('the poller', () => {
  const poll = (action: string, messages = 0) => at(0, 1, { service: 'sqs', action, messages, invocation: '' });

  test('one receive and one delete for each message; empty polls belong to idling', () => {
    const trace = [poll('ReceiveMessage', 1), poll('DeleteMessage'), poll('ReceiveMessage', 0)];
    expect(pollerRequestsPerMessage(trace, 'StepRole')).toBe(2);
  });

  test('several messages in one receive share it', () => {
    const trace = [poll('ReceiveMessage', 2), poll('DeleteMessage'), poll('DeleteMessage')];
    expect(pollerRequestsPerMessage(trace, 'StepRole')).toBe(1.5);
  });

  test('nothing received', () => {
    expect(pollerRequestsPerMessage([poll('ReceiveMessage')], 'StepRole')).toBe(0);
  });
});

describe('steps by their number of calls', () => {
  const step = (puts: number, write: number) =>
    useOf([
      at(0, 1, { action: 'UpdateItem', write: 1, read: 0 }),
      at(0, 1, { action: 'Query', read: 10 }),
      ...Array.from({ length: puts }, (_, index) => at(2 + index, 3, { action: 'PutItem', write: 1 })),
      at(90, 91, { action: 'UpdateItem', write }),
      at(90, 91, { service: 'sqs', action: 'SendMessage' }),
    ]);

  test('a step with one call is not mixed with one of three, nor with a summary', () => {
    const units = unitsOf([step(2, 1), step(2, 1), step(2, 3), step(4, 1), step(1, 1)], 1, 2);
    expect(units).toMatchObject({ invocations: 3, writeUnits: 4, sqsRequests: 3, readUnits: 10 });
    expect(units.writeUnitsMean).toBeCloseTo(14 / 3, 10);
  });

  test('in a long run the summaries are shared out among the steps', () => {
    const run = [step(2, 9), step(2, 1), step(2, 1), step(1, 1)];
    expect(longRunOf(run, 1)).toEqual({ readUnits: 15, writeUnits: (4 + 4 + 3) / 2, invocations: 1.5 });
  });
});

test('a trace whose last line is half written', () => {
  const line = JSON.stringify(at(1, 2));
  expect(parseTrace(`${line}\n${line}\n{"start":`)).toEqual([at(1, 2), at(1, 2)]);
  expect(parseTrace('')).toEqual([]);
});
