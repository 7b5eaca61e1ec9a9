import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { AppError, notFound } from '../kernel/errors.ts';
import { problemErrors } from '../middleware/problem-errors.ts';
import type { RawDelivery } from '../router/channel.ts';
import { type IngestDeps, type Ingested, ingest } from '../router/ingest/ingest.ts';
import { lowerCased } from './auth.ts';
import { busyErrors } from './problem.ts';

const PATH = /^\/ingest\/([^/]+)$/;
/** A function takes 6 MB, base64 and escapes included; what comes through is below it. */
const MOST_BYTES = 6 * 1024 * 1024;

/**
 * The request as it came: signatures are over its bytes, which API Gateway hands over as text where the content type says
 * so and as base64 elsewhere.
 * @throws AppError 413
 */
export const rawDelivery = (event: APIGatewayProxyEventV2): RawDelivery => {
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  if (body.byteLength > MOST_BYTES) {
    const message = `The body has ${body.byteLength} bytes; at most ${MOST_BYTES} are taken.`;
    throw new AppError(413, 'body_too_large', message, { limit: MOST_BYTES });
  }
  const headers = Object.entries(lowerCased(event.headers)).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return { headers: Object.fromEntries(headers), body };
};

/** What providers reach: no key, no scope, the signature alone counts. */
export const makeIngest = (deps: IngestDeps) =>
  middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(problemErrors(deps.log))
    .use(busyErrors())
    .handler(async (event) => {
      const sourceId = PATH.exec(event.rawPath)?.[1];
      if (sourceId === undefined || event.requestContext.http.method !== 'POST') throw notFound('source');
      return answer(await ingest(deps, sourceId, rawDelivery(event)));
    });

/** 200 whatever came of it: only what was not stored is to be delivered again. */
const answer = (ingested: Ingested): APIGatewayProxyStructuredResultV2 => ({
  statusCode: 200,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  body: JSON.stringify(ingested),
});
