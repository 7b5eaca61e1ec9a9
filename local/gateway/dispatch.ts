import { randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Events } from '../services/events.ts';
import { type InvokeOptions, invokeFunction } from '../services/invoke.ts';
import type { Objects } from '../services/objects.ts';
import type { Parameters } from '../services/parameters.ts';
import type { Queues } from '../services/queues/queues.ts';
import { contentTypeOf } from './aws-error.ts';
import type { AwsRequest, AwsResponse } from './aws-request.ts';
import type { JsonObject } from './json.ts';

/** DynamoDB as the gateway needs it: one operation, synchronously. `body` of the answer is JSON or an object. */
export interface DynamoDbService {
  handle(operation: string, body: JsonObject): { readonly status: number; readonly body: unknown };
}

/** What stands behind the gateway. */
export interface Services {
  readonly dynamodb: DynamoDbService;
  readonly queues: Queues;
  readonly objects: Objects;
  readonly parameters: Parameters;
  readonly events: Events;
  readonly functions: InvokeOptions;
}

/** Hands an allowed request to its service. */
export function createDispatch(services: Services): (request: AwsRequest, signal: AbortSignal) => Promise<AwsResponse> {
  return async (request, signal) => {
    const { service, operation, input } = request;
    switch (service) {
      case 'dynamodb': {
        const { status, body } = services.dynamodb.handle(operation, input);
        const text = typeof body === 'string' ? body : JSON.stringify(body);
        const checksum = { 'x-amz-crc32': String(crc32(text)) };
        return json(request, text, status, checksum);
      }
      case 'sqs':
        return json(request, JSON.stringify(await services.queues.handle(operation, input, signal)));
      case 's3':
        return services.objects.handle(request);
      case 'ssm':
        return json(request, JSON.stringify(services.parameters.handle(operation, input)));
      case 'events':
        return json(request, JSON.stringify(await services.events.handle(operation, input)));
      case 'lambda':
        return invokeFunction(request, services.functions);
    }
  };
}

function json(
  { service }: AwsRequest,
  body: string,
  status = 200,
  more: { readonly [name: string]: string } = {},
): AwsResponse {
  const headers = { 'content-type': contentTypeOf(service), 'x-amzn-requestid': randomUUID(), ...more };
  return { status, headers, body };
}
