import { PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { InvokeCommand, type InvokeCommandInput } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEvents } from '../../../local/services/events.ts';
import { ARN, type Clients, type Cloud, errorOf, startCloud } from '../gateway/cloud.ts';

let cloud: Cloud;
let clients: Clients;
beforeAll(async () => {
  cloud = await startCloud({
    invoke: async (name, payload) =>
      payload.toString() === '{"fail":true}'
        ? { status: 200, functionError: 'Unhandled', payload: '{"errorType":"Error","errorMessage":"no"}' }
        : { status: 200, payload: JSON.stringify({ name, got: JSON.parse(payload.toString()) }) },
  });
  clients = cloud.clients();
});
afterAll(() => cloud.remove());

const good: PutEventsRequestEntry = { EventBusName: 'app', Source: 'test', DetailType: 'Run Agent', Detail: '{"a":1}' };
const putEvents = (...Entries: PutEventsRequestEntry[]) => clients.events.send(new PutEventsCommand({ Entries }));

describe('PutEvents', () => {
  it('hands on the whole envelope, whether the bus is named or given by ARN', async () => {
    const Time = new Date('2026-01-02T03:04:05Z');
    const { Entries } = await putEvents({ ...good, Time, Resources: ['arn:x'] }, { ...good, EventBusName: ARN.bus });
    const [first, second] = cloud.events;
    expect(first).toEqual({
      bus: 'app',
      event: {
        version: '0',
        id: Entries?.[0]?.EventId,
        'detail-type': 'Run Agent',
        source: 'test',
        account: '000000000000',
        time: '2026-01-02T03:04:05Z',
        region: 'us-east-1',
        resources: ['arn:x'],
        detail: { a: 1 },
      },
    });
    expect(second?.bus).toBe('app');
    expect(second?.event.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  it.each<[string, PutEventsRequestEntry, string]>([
    ['without source', { EventBusName: 'app', DetailType: 'b', Detail: '{}' }, 'InvalidArgument'],
    ['without detail type', { EventBusName: 'app', Source: 'b', Detail: '{}' }, 'InvalidArgument'],
    ['with a detail that is no JSON', { ...good, Detail: '{' }, 'MalformedDetail'],
    ['with a detail that is no object', { ...good, Detail: '[1]' }, 'MalformedDetail'],
    ['that plays AWS', { ...good, Source: 'aws.ec2' }, 'NotAuthorizedForSourceException'],
    ['for an unknown bus', { ...good, EventBusName: 'nope' }, 'ResourceNotFoundException'],
  ])('an entry %s fails by itself', async (_name, bad, code) => {
    const before = cloud.events.length;
    const { FailedEntryCount, Entries } = await putEvents(bad, good);
    expect(FailedEntryCount).toBe(1);
    expect(Entries?.map(({ ErrorCode }) => ErrorCode)).toEqual([code, undefined]);
    expect(cloud.events.length).toBe(before + 1);
  });

  it('refuses none, more than ten, and more than 1 MiB', async () => {
    for (const entries of [[], Array.from({ length: 11 }, () => good)]) {
      expect((await errorOf(putEvents(...entries))).name).toBe('ValidationException');
    }
    const big = { ...good, Detail: JSON.stringify({ text: 'x'.repeat(600_000) }) };
    expect((await errorOf(putEvents(big, big))).message).toContain('over the limit');
    expect((await putEvents(big)).FailedEntryCount).toBe(0);
  });

  it('an event that cannot be taken is told as failed', async () => {
    const events = createEvents({ busNames: [], onEvent: () => Promise.reject(new Error('full')) });
    const Entries = [{ Source: 'a', DetailType: 'b', Detail: '{}' }];
    expect(await events.handle('PutEvents', { Entries })).toMatchObject({
      FailedEntryCount: 1,
      Entries: [{ ErrorCode: 'InternalFailure' }],
    });
  });
});

describe('Invoke', () => {
  const invoke = (input: Partial<InvokeCommandInput>) =>
    clients.lambda.send(new InvokeCommand({ FunctionName: 'app-step', ...input }));
  const text = (payload: Uint8Array | undefined) => Buffer.from(payload ?? []).toString();

  it('answers what the function answers; an empty payload is an empty object', async () => {
    const { Payload, ExecutedVersion } = await invoke({});
    expect(JSON.parse(text(Payload))).toEqual({ name: 'app-step', got: {} });
    expect(ExecutedVersion).toBe('$LATEST');
  });

  it('tells a function error from an error of the call', async () => {
    const { StatusCode, FunctionError, Payload } = await invoke({ Payload: Buffer.from('{"fail":true}') });
    expect([StatusCode, FunctionError]).toEqual([200, 'Unhandled']);
    expect(JSON.parse(text(Payload))).toMatchObject({ errorMessage: 'no' });
  });

  it('an event is taken at once', async () => {
    const { StatusCode } = await invoke({ InvocationType: 'Event', Payload: Buffer.from('{"e":1}') });
    expect(StatusCode).toBe(202);
    expect(cloud.asyncInvocations).toEqual([{ name: 'app-step', payload: '{"e":1}' }]);
    expect((await invoke({ InvocationType: 'DryRun' })).StatusCode).toBe(204);
  });

  it('refuses unknown functions, payloads that are no JSON and those that are too large', async () => {
    const unknown = await errorOf(invoke({ FunctionName: 'nope' }));
    expect([unknown.name, unknown.$metadata?.httpStatusCode]).toEqual(['ResourceNotFoundException', 404]);
    expect((await errorOf(invoke({ Payload: Buffer.from('{') }))).name).toBe('InvalidRequestContentException');
    const large = Buffer.from(JSON.stringify('x'.repeat(1_100_000)));
    const event = await errorOf(invoke({ InvocationType: 'Event', Payload: large }));
    expect([event.name, event.$metadata?.httpStatusCode]).toEqual(['RequestTooLargeException', 413]);
    expect((await invoke({ Payload: large })).StatusCode).toBe(200);
  });
});
