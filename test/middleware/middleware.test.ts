import middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { AppError, badRequest, UnreadableRow } from '../../lib/kernel/errors.ts';
import { MessageGone } from '../../lib/kernel/ports.ts';
import { logContext } from '../../lib/middleware/log-context.ts';
import { problemErrors } from '../../lib/middleware/problem-errors.ts';
import { sqsHandler } from '../../lib/middleware/sqs-handler.ts';
import { sqsRecords } from '../../lib/middleware/sqs-records.ts';
import { makeMemoryLog, makeMemoryMetrics } from '../support/memory-log.ts';

const context = { awsRequestId: 'request-1' } as Context;

describe('the log context', () => {
  it('carries the request id through the invocation, and clears and flushes at its end', async () => {
    const log = makeMemoryLog();
    const metrics = makeMemoryMetrics();
    const handler = middy(async () => {
      log.append({ executionId: 'exe_1' });
      metrics.count('StepsCommitted');
      log.info('inside');
      return 'done';
    }).use(logContext(log, metrics));
    expect(await handler({}, context)).toBe('done');
    log.info('outside');
    expect(log.lines).toEqual([
      { level: 'info', message: 'inside', requestId: 'request-1', executionId: 'exe_1' },
      { level: 'info', message: 'outside' },
    ]);
    expect(metrics.flushed).toEqual([{ StepsCommitted: 1 }]);
  });

  it('flushes and clears when the handler throws, and leaves the error alone', async () => {
    const log = makeMemoryLog();
    const metrics = makeMemoryMetrics();
    const handler = middy(async () => {
      metrics.count('ParkedMessages', 2);
      throw new Error('crash');
    }).use(logContext(log, metrics));
    await expect(handler({}, context)).rejects.toThrow('crash');
    log.info('outside');
    expect(log.lines).toEqual([{ level: 'info', message: 'outside' }]);
    expect(metrics.flushed).toEqual([{ ParkedMessages: 2 }]);
  });

  it('starts clean after an invocation that was cut off', async () => {
    const log = makeMemoryLog();
    log.append({ orgId: 'org_of_somebody_else' });
    const handler = middy(async () => log.info('inside')).use(logContext(log, makeMemoryMetrics()));
    await handler({}, context);
    expect(log.lines[0]).not.toHaveProperty('orgId');
  });
});

describe('problem errors', () => {
  const answerTo = async (error: unknown) => {
    const log = makeMemoryLog();
    const handler = middy<APIGatewayProxyEventV2>(async () => {
      throw error;
    }).use(problemErrors(log));
    const answer = await handler({ rawPath: '/v1/agents' } as APIGatewayProxyEventV2, context);
    const { statusCode, headers, body } = answer as { statusCode: number; headers: object; body: string };
    return { statusCode, headers, problem: JSON.parse(body) as { [name: string]: unknown }, log };
  };

  it('answer an AppError as RFC 9457, with its details', async () => {
    const field = { field: 'name', received: 'number', expected: 'text' };
    const { statusCode, headers, problem, log } = await answerTo(badRequest('The agent is not valid.', [field]));
    expect(statusCode).toBe(400);
    expect(headers).toMatchObject({ 'content-type': 'application/problem+json', 'cache-control': 'no-store' });
    expect(problem).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      code: 'bad_request',
      detail: 'The agent is not valid.',
      instance: '/v1/agents',
      errors: [field],
    });
    expect(log.lines).toEqual([]);
  });

  it('do not let a detail stand in for a member of the document', async () => {
    const { problem } = await answerTo(
      new AppError(409, 'conflict', 'No.', { status: 'PAUSED', code: 'x', detail: 'y' }),
    );
    expect(problem).toMatchObject({ status: 409, code: 'conflict', detail: 'No.' });
  });

  it('turn retryAfter into the header', async () => {
    const { headers } = await answerTo(new AppError(429, 'too_many_requests', 'Slow down.', { retryAfter: 1.2 }));
    expect(headers).toMatchObject({ 'retry-after': '2' });
  });

  it('log an AppError that is the server’s fault', async () => {
    const error = new AppError(503, 'busy', 'Later.');
    const { statusCode, log } = await answerTo(error);
    expect(statusCode).toBe(503);
    expect(log.lines).toMatchObject([{ level: 'error', error }]);
  });

  it.each<[string, unknown]>([
    ['an error', new TypeError('cannot read sk-secret of undefined')],
    ['a thrown string', 'sk-secret'],
    ['undefined', undefined],
  ])('tell nothing about anything else but an id that the log has too: %s', async (_, error) => {
    const { statusCode, problem, log } = await answerTo(error);
    expect(statusCode).toBe(500);
    expect(problem).toMatchObject({ status: 500, code: 'internal_error', title: 'Internal Server Error' });
    expect(JSON.stringify(problem)).not.toMatch(/secret|undefined|stack|TypeError/);
    expect(problem.errorId).toMatch(/^[0-9a-f-]{36}$/);
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toMatchObject({ level: 'error', errorId: problem.errorId });
    expect(log.lines[0]?.error).toBeInstanceOf(Error); // with its stack
    if (error instanceof Error) expect(log.lines[0]?.error).toBe(error);
  });

  it('say that a row cannot be read, without its key', async () => {
    const { statusCode, problem, log } = await answerTo(new UnreadableRow({ pk: 'ORG#secret', sk: 'A' }, 'version 2'));
    expect(statusCode).toBe(500);
    expect(problem.code).toBe('unreadable_row');
    expect(JSON.stringify(problem)).not.toContain('secret');
    expect(log.lines[0]).toMatchObject({ level: 'error', errorId: problem.errorId });
  });

  it('leave an answer that was no error alone', async () => {
    const handler = middy<APIGatewayProxyEventV2>(async () => ({ statusCode: 200 })).use(
      problemErrors(makeMemoryLog()),
    );
    expect(await handler({ rawPath: '/' } as APIGatewayProxyEventV2, context)).toEqual({ statusCode: 200 });
  });
});

describe('SQS records', () => {
  const record = (messageId: string, body: string): SQSRecord => ({ messageId, body }) as SQSRecord;
  const event = (...records: SQSRecord[]): SQSEvent => ({ Records: records });

  const setup = (handle: (seq: number) => Promise<void>, park: () => Promise<void> = async () => {}) => {
    const parked: string[] = [];
    const log = makeMemoryLog();
    const handler = sqsRecords<{ seq: number }>({
      parse: (body) => JSON.parse(body) as { seq: number },
      handle: (message) => handle(message.seq),
      async park({ messageId }) {
        await park();
        parked.push(messageId);
      },
      log,
    });
    return { handler, parked, log };
  };

  it('fail one by one', async () => {
    const done: number[] = [];
    const { handler, log } = setup(async (seq) => {
      if (seq === 2) throw new Error('crash');
      done.push(seq);
    });
    const answer = await handler(event(record('a', '{"seq":1}'), record('b', '{"seq":2}'), record('c', '{"seq":3}')));
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'b' }] });
    expect(done.sort()).toEqual([1, 3]);
    expect(log.lines).toMatchObject([{ level: 'error', messageId: 'b', error: new Error('crash') }]);
  });

  it('are set aside and taken off the queue when they cannot be read', async () => {
    const done: number[] = [];
    const { handler, parked } = setup(async (seq) => {
      done.push(seq);
    });
    const answer = await handler(event(record('a', 'not json'), record('b', '{"seq":2}')));
    expect(answer).toEqual({ batchItemFailures: [] });
    expect(parked).toEqual(['a']);
    expect(done).toEqual([2]);
  });

  it('come back when setting them aside failed', async () => {
    const { handler, parked } = setup(
      async () => {},
      async () => {
        throw new Error('no bucket');
      },
    );
    expect(await handler(event(record('a', '{')))).toEqual({ batchItemFailures: [{ itemIdentifier: 'a' }] });
    expect(parked).toEqual([]);
  });

  it('come back when the handler throws before its first await', async () => {
    const { handler } = setup(() => {
      throw new Error('at once');
    });
    expect(await handler(event(record('a', '{"seq":1}')))).toEqual({ batchItemFailures: [{ itemIdentifier: 'a' }] });
  });

  it('are worked on at the same time', async () => {
    let running = 0;
    let most = 0;
    const { handler } = setup(async () => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
    });
    await handler(event(record('a', '{"seq":1}'), record('b', '{"seq":2}')));
    expect(most).toBe(2);
  });

  it('come back after as long as their queue says; what failed first is what is told, also where that fails', async () => {
    const log = makeMemoryLog();
    const hidden: string[] = [];
    const handler = sqsHandler<string>({
      log,
      metrics: makeMemoryMetrics(),
      blobs: () => {
        throw new Error('Nothing is set aside.');
      },
      parse: (body) => body,
      handle: () => Promise.reject(new Error('crash')),
      later: {
        queue: () => ({
          changeVisibility: async (receiptHandle, seconds) => {
            if (receiptHandle === 'gone') throw new MessageGone('deleted');
            hidden.push(`${receiptHandle} ${seconds}`);
          },
        }),
        seconds: (error, receiveCount) => (error instanceof Error ? 2 ** receiveCount : 0),
      },
    });
    const received = (receiptHandle: string, count: string): SQSRecord =>
      ({ ...record(receiptHandle, 'x'), receiptHandle, attributes: { ApproximateReceiveCount: count } }) as SQSRecord;
    const answer = await handler(event(received('here', '3'), received('gone', '1')), context);
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'here' }, { itemIdentifier: 'gone' }] });
    expect(hidden).toEqual(['here 8']);
    expect(log.lines).toMatchObject([
      { level: 'warn', messageId: 'gone' },
      { level: 'error', messageId: 'here', error: new Error('crash') },
      { level: 'error', messageId: 'gone', error: new Error('crash') },
    ]);
  });

  it('are none in an empty batch', async () => {
    expect(await setup(async () => {}).handler(event())).toEqual({ batchItemFailures: [] });
  });
});
