import { ListTablesCommand, PutItemCommand, QueryCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { InvokeCommand } from '@aws-sdk/client-lambda';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { GetParameterCommand } from '@aws-sdk/client-ssm';
import { afterEach, describe, expect, it } from 'vitest';
import { createChaos } from '../../../local/gateway/chaos.ts';
import { parseChaos } from '../../../local/gateway/chaos-spec.ts';
import { allow, type Clients, type Cloud, errorOf, principal, startCloud } from './cloud.ts';

const role = principal('StepRole', [allow(['*'], ['*'])]);
let cloud: Cloud | undefined;
afterEach(async () => {
  await cloud?.remove();
  cloud = undefined;
});
const start = async (chaos: string): Promise<{ running: Cloud; clients: Clients }> => {
  const running = await startCloud({ roles: [role], chaos });
  cloud = running;
  return { running, clients: running.clients(role) };
};
const Item = { pk: { S: 'a' }, sk: { S: 'b' } };
const TableName = 'data';
const put = () => new PutItemCommand({ TableName, Item });
const all = new QueryCommand({
  TableName,
  KeyConditionExpression: 'pk = :p',
  ExpressionAttributeValues: { ':p': { S: 'a' } },
});

describe('BATON_CHAOS', () => {
  it('is read part by part', () => {
    expect(parseChaos('duplicate=0.1, reorder=.5,delay=0.2:3,throttle=1,conflict=0,kill=0.25,seed=7')).toEqual({
      duplicate: 0.1,
      reorder: 0.5,
      delay: 0.2,
      delaySeconds: 3,
      throttle: 1,
      conflict: 0,
      kill: 0.25,
      seed: 7,
    });
    expect(parseChaos('')).toMatchObject({ throttle: 0, kill: 0 });
  });

  it.each([
    ['throttle', "'throttle'", /expected 'duplicate=P'/],
    ['throtle=0.1', "'throtle=0.1'", /expected/],
    ['kill=2', "'kill=2'", /from 0 to 1/],
    ['kill=-0.1', "'kill=-0.1'", /from 0 to 1/],
    ['kill=NaN', "'kill=NaN'", /from 0 to 1/],
    ['kill=1e-1', "'kill=1e-1'", /from 0 to 1/],
    ['delay=0.1', "'delay=0.1'", /delay=P:SECONDS/],
    ['delay=0.1:901', "'delay=0.1:901'", /at most 900/],
    ['delay=x:1', "'delay=x:1'", /from 0 to 1/],
    ['seed=1.5', "'seed=1.5'", /whole number/],
    ['kill=0.1,kill=0.2', "'kill=0.2'", /given twice/],
  ])('%s is refused by a sentence that names the part', (text, part, why) => {
    expect(() => parseChaos(text)).toThrow(why);
    expect(() => parseChaos(`seed=3,${text}`.replace('seed=3,seed', 'seed'))).toThrow(part);
  });

  it('a seed gives the same faults again, another seed others', () => {
    const draw = (text: string) => {
      const chaos = createChaos(text);
      return Array.from({ length: 200 }, () => [chaos.throttles(), chaos.deliveryDelayMs(), chaos.kills()].join());
    };
    const spec = 'throttle=0.5,delay=0.5:2,kill=0.5';
    expect(draw(`${spec},seed=1`)).toEqual(draw(`${spec},seed=1`));
    expect(draw(`${spec},seed=1`)).not.toEqual(draw(`${spec},seed=2`));
    expect(new Set(draw(`${spec},seed=1`)).size).toBe(12);
  });

  it('probabilities are kept', () => {
    const chaos = createChaos('throttle=0.2,seed=5');
    const hits = Array.from({ length: 10_000 }, () => chaos.throttles()).filter(Boolean).length;
    expect(hits).toBeGreaterThan(1_800);
    expect(hits).toBeLessThan(2_200);
  });

  it('deliveries lose nothing, and repeat or turn round only when told', () => {
    const messages = Array.from({ length: 10 }, (_, i) => i);
    expect(createChaos('').deliveries(messages)).toEqual(messages);
    expect(createChaos('').deliveryDelayMs()).toBe(0);
    expect(createChaos('delay=1:2.5').deliveryDelayMs()).toBe(2_500);
    expect(createChaos('duplicate=1').deliveries([1, 2])).toEqual([1, 1, 2, 2]);
    const turned = createChaos('reorder=1,seed=3').deliveries(messages);
    expect(turned).not.toEqual(messages);
    expect(turned.sort((a, b) => a - b)).toEqual(messages);
  });
});

describe('throttles', () => {
  it('come in the words of each service, before the call is applied', async () => {
    const { running, clients } = await start('throttle=1');
    const { dynamodb, sqs, s3, ssm, events, lambda } = clients;
    const QueueUrl = running.queueUrl('work');
    const Entries = [{ EventBusName: 'app', Source: 'a', DetailType: 'b', Detail: '{}' }];
    const names = await Promise.all(
      [
        dynamodb.send(put()),
        sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x' })),
        s3.send(new GetObjectCommand({ Bucket: 'files-bucket', Key: 'a' })),
        ssm.send(new GetParameterCommand({ Name: '/app/a' })),
        events.send(new PutEventsCommand({ Entries })),
        lambda.send(new InvokeCommand({ FunctionName: 'app-step' })),
      ].map(async (call) => (await errorOf(call)).name),
    );
    expect(names).toEqual([
      'ProvisionedThroughputExceededException',
      'RequestThrottled',
      'SlowDown',
      'ThrottlingException',
      'ThrottlingException',
      'TooManyRequestsException',
    ]);
    const own = running.clients();
    expect((await own.dynamodb.send(all)).Count).toBe(0);
    expect((await own.sqs.send(new ReceiveMessageCommand({ QueueUrl }))).Messages).toBeUndefined();
    expect(running.events).toEqual([]);
  });
});

describe('conflicts', () => {
  it('hit writes of DynamoDB only, and nothing of them is applied', async () => {
    const { running, clients } = await start('conflict=1');
    expect((await errorOf(clients.dynamodb.send(put()))).name).toBe('TransactionConflictException');
    const Put = { TableName, Item };
    const other = { TableName, Item: { ...Item, sk: { S: 'c' } } };
    const transaction = new TransactWriteItemsCommand({ TransactItems: [{ Put }, { Put: other }] });
    const error = await errorOf(clients.dynamodb.send(transaction));
    expect(error.name).toBe('TransactionCanceledException');
    const { CancellationReasons: reasons = [] } = error as { CancellationReasons?: { Code?: string }[] };
    expect(reasons.map(({ Code }) => Code).sort()).toEqual(['None', 'TransactionConflict']);
    expect((await clients.dynamodb.send(all)).Count).toBe(0);
    await clients.sqs.send(new SendMessageCommand({ QueueUrl: running.queueUrl('work'), MessageBody: 'x' }));
  });
});

describe('kills', () => {
  it('fall before or after the call is applied; the caller gets no answer either way', async () => {
    const { running, clients } = await start('kill=1,seed=11');
    let applied = 0;
    for (let i = 0; i < 20; i++) {
      await errorOf(clients.dynamodb.send(put()));
      const { Count } = await running.clients().dynamodb.send(all);
      if (Count === 1) {
        applied++;
        const Put = { TableName, Key: Item };
        await running.clients().dynamodb.send(new TransactWriteItemsCommand({ TransactItems: [{ Delete: Put }] }));
      }
    }
    expect(applied).toBeGreaterThan(0);
    expect(applied).toBeLessThan(20);
    expect(running.killed).toEqual(Array.from({ length: 20 }, () => 'StepRole'));
  });

  it('spare the polls of the queues and the local cloud itself', async () => {
    const { running, clients } = await start('kill=1,throttle=0');
    await clients.sqs.send(new ReceiveMessageCommand({ QueueUrl: running.queueUrl('work') }));
    await running.clients().dynamodb.send(new ListTablesCommand({}));
    expect(running.killed).toEqual([]);
  });
});
