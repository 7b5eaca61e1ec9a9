/** What goes back over the wire. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] };
  readonly body: Buffer;
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** API Gateway's own answers look like this, whatever went wrong behind it. */
export const message = (status: number, text: string): HttpAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify({ message: text })),
});

/** Refusals of the local cloud itself (RFC 9457). */
export const problem = (
  status: number,
  code: string,
  title: string,
  details: { readonly [key: string]: unknown } = {},
): HttpAnswer => ({
  status,
  headers: { 'content-type': 'application/problem+json' },
  body: Buffer.from(JSON.stringify({ type: 'about:blank', title, status, code, ...details })),
});

export const internalError = (): HttpAnswer => message(500, 'Internal Server Error');

/**
 * Reads a function's answer in payload format 2.0. Without a `statusCode` the whole answer is the body of a 200; an
 * answer that cannot be sent is an internal error, as on AWS.
 */
export const httpAnswer = (payload: Buffer): HttpAnswer => {
  let answer: unknown;
  try {
    answer = JSON.parse(payload.toString('utf8'));
  } catch {
    return internalError();
  }
  if (!isObject(answer) || answer.statusCode === undefined) {
    const body = typeof answer === 'string' ? answer : payload;
    return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(body) };
  }
  const { statusCode, headers = {}, cookies = [], body = '', isBase64Encoded = false } = answer;
  const status = Number(statusCode);
  const usable =
    Number.isInteger(status) &&
    status >= 100 &&
    status <= 599 &&
    isObject(headers) &&
    Array.isArray(cookies) &&
    typeof body === 'string';
  if (!usable) return internalError();
  const sent: { [name: string]: string | string[] } = {};
  for (const [name, value] of Object.entries(headers)) sent[name.toLowerCase()] = String(value);
  if (cookies.length > 0) sent['set-cookie'] = cookies.map(String);
  sent['content-type'] ??= 'text/plain;charset=UTF-8';
  return { status, headers: sent, body: Buffer.from(body, isBase64Encoded === true ? 'base64' : 'utf8') };
};
