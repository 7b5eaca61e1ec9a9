import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from './json.ts';

/** The services behind the gateway, by the name that stands in the credential scope. */
export const SERVICES = ['dynamodb', 'sqs', 's3', 'ssm', 'events', 'lambda'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** A request as it came off the wire, before anyone believed it. */
export interface WireRequest {
  readonly method: string;
  /** As sent, still percent-encoded, without the query. */
  readonly path: string;
  /** Decoded pairs in the order sent. */
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An authenticated request whose operation is known. */
export interface AwsRequest extends WireRequest {
  readonly service: ServiceName;
  /** `PutItem`, `SendMessage`, `Invoke`; for S3 the name of the API action (`GetObject`). */
  readonly operation: string;
  /** The parsed body of a JSON service; empty for S3 and Lambda. */
  readonly input: JsonObject;
}

export interface AwsResponse {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer | string;
}

export const headerOf = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value.join(',') : value;
};

export const queryOf = (request: WireRequest, name: string): string | undefined =>
  request.query.find(([key]) => key === name)?.[1];

/** Splits `a=1&b` into decoded pairs. `+` stays a plus: AWS clients send a space as `%20`. */
export function parseQuery(raw: string): [string, string][] {
  if (raw === '') return [];
  return raw.split('&').map((pair): [string, string] => {
    const equals = pair.indexOf('=');
    if (equals < 0) return [decode(pair), ''];
    return [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
  });
}

/** Percent-decodes; text that is not valid percent-encoding stays as it is. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
