import { arnOf } from '../gateway/access/arns.ts';
import { functionNameOf } from '../gateway/access/asks.ts';
import { AwsError } from '../gateway/aws-error.ts';
import { type AwsRequest, type AwsResponse, headerOf } from '../gateway/aws-request.ts';

/** How a function answered. `functionError` (`Unhandled`) when it threw; then `payload` is the error as JSON. */
export interface Invocation {
  readonly status: number;
  readonly functionError?: string;
  readonly payload: Buffer | string;
}

export interface InvokeOptions {
  /** Names of the functions of the template. */
  readonly functionNames: readonly string[];
  readonly invoke: (functionName: string, payload: Buffer) => Promise<Invocation>;
  /** Takes an event and answers at once; retries are its business. */
  readonly invokeAsync: (functionName: string, payload: Buffer) => void;
}

/** Largest payloads, bytes (Lambda quotas): of a request with an answer, and of an event. */
const MAX_SYNC = 6 * 1024 * 1024;
const MAX_EVENT = 1024 * 1024;

/** Lambda's `Invoke`. @throws AwsError */
export async function invokeFunction(request: AwsRequest, options: InvokeOptions): Promise<AwsResponse> {
  const name = functionNameOf(request.path);
  if (!options.functionNames.includes(name)) {
    throw new AwsError('ResourceNotFoundException', `Function not found: ${arnOf('lambda', `function:${name}`)}`, {
      status: 404,
    });
  }
  const type = headerOf(request.headers, 'x-amz-invocation-type') ?? 'RequestResponse';
  const payload = request.body.length === 0 ? Buffer.from('{}') : request.body;
  const limit = type === 'Event' ? MAX_EVENT : MAX_SYNC;
  if (payload.length > limit) {
    throw new AwsError(
      'RequestTooLargeException',
      `${payload.length} byte payload is too large for the ${type} invocation type (limit ${limit} bytes)`,
      { status: 413 },
    );
  }
  try {
    JSON.parse(payload.toString('utf8'));
  } catch {
    throw new AwsError(
      'InvalidRequestContentException',
      'Could not parse request body into json: the payload is not valid JSON.',
    );
  }
  switch (type) {
    case 'DryRun':
      return { status: 204, headers: {}, body: '' };
    case 'Event':
      options.invokeAsync(name, payload);
      return { status: 202, headers: {}, body: '' };
    case 'RequestResponse': {
      const { status, functionError, payload: body } = await options.invoke(name, payload);
      const headers = {
        'content-type': 'application/json',
        'x-amz-executed-version': '$LATEST',
        ...(functionError === undefined ? {} : { 'x-amz-function-error': functionError }),
      };
      return { status, headers, body };
    }
    default:
      throw new AwsError(
        'InvalidParameterValueException',
        `InvocationType must be RequestResponse, Event or DryRun, not '${type}'.`,
      );
  }
}
