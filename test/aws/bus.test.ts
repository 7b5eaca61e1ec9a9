import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { afterEach, describe, expect, it } from 'vitest';
import { makeBus } from '../../lib/aws/bus.ts';
import { type JsonWire, LOCAL_ACCESS, startJsonWire, type WireAnswer } from '../support/json-wire.ts';

describe('the bus', () => {
  let wire: JsonWire | undefined;
  afterEach(() => wire?.close());

  const busThatAnswers = async (answer: WireAnswer) => {
    const inputs: unknown[] = [];
    wire = await startJsonWire((_, input) => {
      inputs.push(input);
      return answer;
    });
    const client = new EventBridgeClient({ ...LOCAL_ACCESS, endpoint: wire.url, maxAttempts: 1 });
    return { bus: makeBus({ client, busName: 'baton-test' }), inputs };
  };

  it('publishes one event as JSON under the source of the app', async () => {
    const answer = { status: 200, body: { FailedEntryCount: 0, Entries: [{ EventId: 'e' }] } };
    const { bus, inputs } = await busThatAnswers(answer);
    await bus.publish({ detailType: 'Execution Status Changed', detail: { id: 'eff_1', status: 'COMPLETED' } });
    expect(inputs).toEqual([
      {
        Entries: [
          {
            EventBusName: 'baton-test',
            Source: 'baton',
            DetailType: 'Execution Status Changed',
            Detail: '{"id":"eff_1","status":"COMPLETED"}',
          },
        ],
      },
    ]);
  });

  it('fails when the answer is 200 but the event was not taken', async () => {
    const entry = { ErrorCode: 'ThrottlingException', ErrorMessage: 'Rate exceeded' };
    const { bus } = await busThatAnswers({ status: 200, body: { FailedEntryCount: 1, Entries: [entry] } });
    await expect(bus.publish({ detailType: 'Run Agent', detail: {} })).rejects.toThrow(
      'EventBridge did not take "Run Agent": ThrottlingException Rate exceeded',
    );
  });

  it('passes on a refusal of the request', async () => {
    const { bus } = await busThatAnswers({ status: 400, body: { __type: 'AccessDeniedException', message: 'no' } });
    await expect(bus.publish({ detailType: 'Run Agent', detail: {} })).rejects.toMatchObject({
      name: 'AccessDeniedException',
    });
  });
});
