import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { expect, test } from 'vitest';
import { answerHeaders, busyErrors } from '../../lib/http/problem.ts';
import { ConditionFailed, TransactionRefused } from '../../lib/kernel/table.ts';
import { problemErrors } from '../../lib/middleware/problem-errors.ts';
import { makeMemoryLog } from '../support/memory-log.ts';

const answerTo = (error: Error) =>
  middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(answerHeaders())
    .use(problemErrors(makeMemoryLog()))
    .use(busyErrors())
    .handler(async () => {
      throw error;
    })({ rawPath: '/v1/x' } as APIGatewayProxyEventV2, {} as Context);

test.each([
  new TransactionRefused([true], [undefined]),
  new ConditionFailed(undefined),
  Object.assign(new Error('slow down'), { name: 'ThrottlingException' }),
])('a use case that lost every race ($name) says when to come back', async (error) => {
  const { statusCode, headers, body } = await answerTo(error);
  expect([statusCode, headers?.['retry-after'], JSON.parse(body ?? '').code]).toEqual([503, '1', 'busy']);
});

test('any other error stays our own fault', async () => {
  expect((await answerTo(new Error('bug'))).statusCode).toBe(500);
});
