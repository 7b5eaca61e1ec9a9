import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { RouteMatch } from './route-match.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

export interface RequestTarget {
  /** Percent-decoded. */
  readonly path: string;
  /** As sent. */
  readonly query: string;
}

/**
 * HTTP APIs decode the path before they match routes, an encoded slash included, and cut it at a decoded question mark.
 * (REST APIs and function URLs leave it encoded.)
 */
export const targetOf = (url: string): RequestTarget => {
  const mark = url.indexOf('?');
  const [path, query] = mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
  return { path: decode(path).split('?')[0] ?? '', query };
};

/**
 * The event of an HTTP API in payload format 2.0.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
export const httpEvent = (
  request: IncomingMessage,
  target: RequestTarget,
  body: Buffer,
  match: RouteMatch,
  requestId: string,
): string => {
  const headers = headersOf(request);
  const cookies = request.headers.cookie?.split(';').map((cookie) => cookie.trim());
  const query = queryOf(target.query);
  // Bytes that are no UTF-8 would be lost as text, whatever their type says; the function shall see what was sent.
  const text = isUtf8(body) && isText(request.headers['content-type'], request.headers['content-encoding']);
  const now = new Date();
  return JSON.stringify({
    version: '2.0',
    routeKey: match.route.routeKey,
    rawPath: target.path,
    rawQueryString: target.query,
    ...(cookies === undefined ? {} : { cookies }),
    headers,
    ...(Object.keys(query).length === 0 ? {} : { queryStringParameters: query }),
    requestContext: {
      accountId: 'anonymous',
      apiId: match.route.apiId,
      domainName: headers.host?.split(':')[0] ?? '',
      domainPrefix: match.route.apiId,
      http: {
        method: request.method ?? '',
        path: target.path,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: request.socket.remoteAddress?.replace(/^::ffff:/, '') ?? '',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId,
      routeKey: match.route.routeKey,
      stage: '$default',
      time: clfTime(now),
      timeEpoch: now.getTime(),
    },
    ...(Object.keys(match.pathParameters).length === 0 ? {} : { pathParameters: match.pathParameters }),
    ...(body.length === 0 ? {} : { body: body.toString(text ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !text,
  });
};

/** Lower-cased, repeated ones joined by a comma. Cookies have a field of their own. */
const headersOf = (request: IncomingMessage): { readonly [name: string]: string } => {
  const headers: { [name: string]: string } = {};
  for (const [name, values] of Object.entries(request.headersDistinct)) {
    if (name !== 'cookie' && values !== undefined) headers[name] = values.join(',');
  }
  return headers;
};

const queryOf = (query: string): { readonly [name: string]: string } => {
  const parameters: { [name: string]: string } = {};
  for (const [name, value] of new URLSearchParams(query)) {
    parameters[name] = parameters[name] === undefined ? value : `${parameters[name]},${value}`;
  }
  return parameters;
};

/** HTTP APIs hand over text as it is and everything else, compressed text too, as base64. */
const isText = (contentType: string | undefined, contentEncoding: string | undefined): boolean =>
  contentEncoding === undefined &&
  /^(text\/|application\/(.+\+)?json|application\/(.+\+)?xml|application\/javascript)/i.test(contentType ?? '');

const decode = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // a lone percent sign stays as it was sent
  }
};

/** `12/Mar/2020:19:03:58 +0000` */
const clfTime = (now: Date): string => {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${two(now.getUTCDate())}/${MONTHS[now.getUTCMonth()]}/${now.getUTCFullYear()}`;
  return `${day}:${now.toISOString().slice(11, 19)} +0000`;
};
