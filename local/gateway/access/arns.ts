import { LOCAL } from '../../names.ts';

/** The ARN of a resource of this cloud. */
export const arnOf = (service: string, resource: string): string =>
  `arn:${LOCAL.partition}:${service}:${LOCAL.region}:${LOCAL.account}:${resource}`;

export const bucketArn = (bucket: string, key?: string): string =>
  `arn:${LOCAL.partition}:s3:::${bucket}${key === undefined ? '' : `/${key}`}`;

/** The name in a queue URL: its last path segment. */
export const queueNameOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

/** An ARN as it is; anything else becomes one. */
export const toArn = (service: string, type: string, nameOrArn: string): string =>
  nameOrArn.startsWith('arn:') ? nameOrArn : arnOf(service, type + nameOrArn);
