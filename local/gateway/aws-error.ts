import { randomUUID } from 'node:crypto';
import type { AwsResponse, ServiceName } from './aws-request.ts';
import type { JsonObject } from './json.ts';

/** A refusal in AWS's own words. `code` is the name the SDK gives to the error. */
export class AwsError extends Error {
  override readonly name = 'AwsError';
  readonly code: string;
  readonly status: number;
  /** The older name that SQS sends beside `code` in `x-amzn-query-error`. */
  readonly queryCode: string;
  /** Further members of the body (`CancellationReasons`). */
  readonly details: JsonObject;
  constructor(
    code: string,
    message: string,
    options: { status?: number; queryCode?: string; details?: JsonObject } = {},
  ) {
    super(message);
    this.code = code;
    this.status = options.status ?? 400;
    this.queryCode = options.queryCode ?? code;
    this.details = options.details ?? {};
  }
}

/** Shape IDs in `__type`: refusals of the front differ from those of the service itself, as on AWS. */
const FRONT_CODES = new Set([
  'AccessDeniedException',
  'UnrecognizedClientException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
  'IncompleteSignatureException',
  'IncompleteSignature',
  'MissingAuthenticationTokenException',
  'MissingAuthenticationToken',
  'SerializationException',
  'UnknownOperationException',
]);

const NAMESPACE: { readonly [service in ServiceName]: string } = {
  dynamodb: 'com.amazonaws.dynamodb.v20120810#',
  sqs: 'com.amazonaws.sqs#',
  s3: '',
  ssm: '',
  events: '',
  lambda: '',
};

/** The media type of a service's JSON answers. */
export const contentTypeOf = (service: ServiceName): string =>
  service === 'dynamodb' || service === 'sqs'
    ? 'application/x-amz-json-1.0'
    : service === 's3'
      ? 'application/xml'
      : service === 'lambda'
        ? 'application/json'
        : 'application/x-amz-json-1.1';

/** Writes an error as the given service does, so that its SDK client reads the same class out of it. */
export function errorResponse(service: ServiceName, error: AwsError): AwsResponse {
  const requestId = randomUUID();
  if (service === 's3') {
    const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${error.code}</Code><Message>${escapeXml(error.message)}</Message><RequestId>${requestId}</RequestId></Error>`;
    return {
      status: error.status,
      headers: { 'content-type': 'application/xml', 'x-amz-request-id': requestId },
      body,
    };
  }
  const headers: { [name: string]: string } = {
    'content-type': contentTypeOf(service),
    'x-amzn-requestid': requestId,
  };
  if (service === 'lambda') {
    headers['x-amzn-errortype'] = error.code;
    return { status: error.status, headers, body: JSON.stringify({ ...error.details, Message: error.message }) };
  }
  if (service === 'sqs') {
    headers['x-amzn-query-error'] = `${error.queryCode};${error.status < 500 ? 'Sender' : 'Receiver'}`;
  }
  const front = FRONT_CODES.has(error.code) ? 'com.amazon.coral.service#' : NAMESPACE[service];
  // The member is `Message` in some services and `message` in others; the SDK reads either.
  const body = JSON.stringify({ __type: front + error.code, message: error.message, ...error.details });
  return { status: error.status, headers, body };
}

const escapeXml = (text: string): string => text.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);
