import type { IncomingHttpHeaders } from 'node:http';
import { functionNameOf } from './access/asks.ts';
import { s3Operation } from './access/asks-s3.ts';
import { AwsError } from './aws-error.ts';
import { type AwsRequest, headerOf, SERVICES, type ServiceName, type WireRequest } from './aws-request.ts';
import { isObject } from './json.ts';

/** Prefixes of `X-Amz-Target`. */
const TARGETS: { readonly [prefix: string]: ServiceName } = {
  DynamoDB_20120810: 'dynamodb',
  AmazonSQS: 'sqs',
  AmazonSSM: 'ssm',
  AWSEvents: 'events',
};

/** The service a request seems to be for, before its signature says so: only to word a refusal. */
export function guessService(path: string, headers: IncomingHttpHeaders): ServiceName {
  const prefix = headerOf(headers, 'x-amz-target')?.split('.')[0] ?? '';
  if (Object.hasOwn(TARGETS, prefix)) return TARGETS[prefix] ?? 's3';
  return path.startsWith('/2015-03-31/functions/') ? 'lambda' : 's3';
}

export const isService = (name: string): name is ServiceName => SERVICES.some((service) => service === name);

/** Finds operation and input of a request that is signed for `service`. @throws AwsError */
export function identify(service: ServiceName, request: WireRequest): AwsRequest {
  if (service === 's3') {
    const operation = s3Operation(request);
    if (operation === undefined) {
      throw new AwsError(
        'NotImplemented',
        `The local object store does not have this operation: ${request.method} with ${request.query.map(([name]) => name).join(', ') || 'no parameters'}.`,
        { status: 501 },
      );
    }
    return { ...request, service, operation, input: {} };
  }
  if (service === 'lambda') {
    if (request.method !== 'POST' || functionNameOf(request.path) === '') {
      throw new AwsError('UnknownOperationException', 'The local Lambda has no operation but Invoke.', { status: 404 });
    }
    return { ...request, service, operation: 'Invoke', input: {} };
  }
  const target = headerOf(request.headers, 'x-amz-target') ?? '';
  const [prefix = '', operation = ''] = target.split('.');
  if (!Object.hasOwn(TARGETS, prefix) || TARGETS[prefix] !== service || operation === '') {
    throw new AwsError(
      'UnknownOperationException',
      `The header X-Amz-Target must name an operation of ${service}, not '${target}'.`,
    );
  }
  return { ...request, service, operation, input: parseInput(request.body) };
}

function parseInput(body: Buffer): AwsRequest['input'] {
  let input: unknown;
  try {
    input = body.length === 0 ? {} : JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new AwsError('SerializationException', 'The body is not valid JSON in UTF-8.');
  }
  if (!isObject(input)) throw new AwsError('SerializationException', 'The body must be a JSON object.');
  return input;
}
