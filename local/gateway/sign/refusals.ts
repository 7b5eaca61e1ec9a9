import { AwsError } from '../aws-error.ts';
import type { ServiceName } from '../aws-request.ts';
import type { AuthenticationError, Problem } from './authentication-error.ts';

type Family = 's3' | 'sqs' | 'other';

/** The code and status with which each family of services refuses a signature. */
const REFUSALS: {
  readonly [problem in Problem]: { readonly [family in Family]: readonly [code: string, status: number] };
} = {
  missing: {
    s3: ['AccessDenied', 403],
    sqs: ['MissingAuthenticationToken', 403],
    other: ['MissingAuthenticationTokenException', 400],
  },
  incomplete: {
    s3: ['AuthorizationHeaderMalformed', 400],
    sqs: ['IncompleteSignature', 400],
    other: ['IncompleteSignatureException', 400],
  },
  unknownKey: {
    s3: ['InvalidAccessKeyId', 403],
    sqs: ['InvalidClientTokenId', 403],
    other: ['UnrecognizedClientException', 400],
  },
  badSignature: {
    s3: ['SignatureDoesNotMatch', 403],
    sqs: ['SignatureDoesNotMatch', 403],
    other: ['InvalidSignatureException', 400],
  },
  skewed: {
    s3: ['RequestTimeTooSkewed', 403],
    sqs: ['SignatureDoesNotMatch', 403],
    other: ['InvalidSignatureException', 400],
  },
  expired: {
    s3: ['AccessDenied', 403],
    sqs: ['SignatureDoesNotMatch', 403],
    other: ['InvalidSignatureException', 400],
  },
  wrongScope: {
    s3: ['AuthorizationHeaderMalformed', 400],
    sqs: ['SignatureDoesNotMatch', 403],
    other: ['InvalidSignatureException', 400],
  },
  unsignedHeaders: {
    s3: ['AccessDenied', 403],
    sqs: ['SignatureDoesNotMatch', 403],
    other: ['InvalidSignatureException', 400],
  },
  payloadHash: {
    s3: ['XAmzContentSHA256Mismatch', 400],
    sqs: ['SignatureDoesNotMatch', 403],
    other: ['InvalidSignatureException', 400],
  },
};

const S3_UNKNOWN_KEY = 'The AWS Access Key Id you provided does not exist in our records.';

/** Words a refused signature as the service would. */
export function refusedSignature(service: ServiceName, { problem, message }: AuthenticationError): AwsError {
  const family: Family = service === 's3' || service === 'sqs' ? service : 'other';
  const [code, status] = REFUSALS[problem][family];
  const text = problem === 'unknownKey' && service === 's3' ? S3_UNKNOWN_KEY : message;
  return new AwsError(code, text, { status: service === 'lambda' ? 403 : status });
}
