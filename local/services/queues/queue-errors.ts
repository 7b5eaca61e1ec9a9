import { AwsError } from '../../gateway/aws-error.ts';

/** The errors of SQS, with the older name that stands beside each in `x-amzn-query-error`. */
export const queueDoesNotExist = (): AwsError =>
  new AwsError('QueueDoesNotExist', 'The specified queue does not exist.', {
    queryCode: 'AWS.SimpleQueueService.NonExistentQueue',
  });

export const invalidParameter = (message: string): AwsError => new AwsError('InvalidParameterValue', message);

export const missingParameter = (name: string): AwsError =>
  new AwsError('MissingParameter', `The request must contain the parameter ${name}.`);

/** For the errors whose older name is the new one behind `AWS.SimpleQueueService.`. */
export const queueError = (code: string, message: string): AwsError =>
  new AwsError(code, message, { queryCode: `AWS.SimpleQueueService.${code}` });
