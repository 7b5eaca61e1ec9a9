import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mayInvoke } from '../../../local/functions/permission.ts';
import { type Front, startFront } from '../../../local/http/front.ts';
import type { LocalRoute } from '../../../local/template/assembly.ts';
import { fixtureAssembly, fixtureFunction } from '../fixtures/assembly.ts';
import { type Running, runFunctions } from '../fixtures/functions.ts';

const http = fixtureFunction('http');
const slow = fixtureFunction('stuck');
const API = 'arn:aws:execute-api:us-east-1:000000000000:api1';
const route = (routeKey: string, functionArn: string, timeoutMs = 5000): LocalRoute => ({
  routeKey,
  functionArn,
  sourceArn: `${API}/$default/${routeKey.replace(' ', '').replace('ANY', '*')}`,
  apiId: 'api1',
  timeoutMs,
});
const permission = (functionArn: string, path: string, principal = 'apigateway.amazonaws.com') => ({
  functionArn,
  principal,
  sourceArn: `${API}/*/*${path}`,
});
const assembly = fixtureAssembly({
  functions: [http, slow],
  routes: [
    route('ANY /{proxy+}', http.arn),
    route('POST /ingest/{sourceId}', http.arn),
    route('GET /slow', slow.arn, 300),
    route('GET /forbidden', http.arn),
    route('GET /events-only', http.arn),
  ],
  permissions: [
    permission(http.arn, '/{proxy+}'),
    permission(http.arn, '/ingest/{sourceId}'),
    permission(slow.arn, '/slow'),
    permission(http.arn, '/events-only', 'events.amazonaws.com'),
  ],
});

let functions: Running;
let front: Front;
const fired: string[] = [];
beforeEach(async () => {
  functions = runFunctions(assembly);
  front = await startFront(0);
  front.open({
    routes: assembly.routes,
    invoke: functions.invoke,
    mayInvoke: (arn, source) => mayInvoke(assembly, arn, 'apigateway.amazonaws.com', source),
    fireRule: (name) => name === 'tick' && fired.push(name) > 0,
    ruleNames: ['tick', 'sweep'],
  });
});
afterEach(async () => {
  await front.close();
  await functions.stop();
});

const answerWith = (answer: unknown) =>
  fetch(`${front.url}/x`, {
    method: 'POST',
    body: JSON.stringify({ answer }),
    headers: { 'content-type': 'application/json' },
  });

describe('the event', () => {
  test('has the shape of payload format 2.0', async () => {
    const response = await fetch(`${front.url}/v1/a%20b/c?x=1&x=2&y=%C3%BC&z`, {
      method: 'PUT',
      headers: { Cookie: 'a=1; b=2', 'X-Thing': 'One', 'Content-Type': 'application/json; charset=utf-8' },
      body: '{"ü":1}',
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      version: '2.0',
      routeKey: 'ANY /{proxy+}',
      rawPath: '/v1/a b/c',
      rawQueryString: 'x=1&x=2&y=%C3%BC&z',
      cookies: ['a=1', 'b=2'],
      headers: { 'x-thing': 'One' },
      queryStringParameters: { x: '1,2', y: 'ü', z: '' },
      pathParameters: { proxy: 'v1/a b/c' },
      body: '{"ü":1}',
      isBase64Encoded: false,
      requestContext: {
        http: { method: 'PUT', path: '/v1/a b/c', protocol: 'HTTP/1.1', sourceIp: '127.0.0.1' },
        stage: '$default',
        routeKey: 'ANY /{proxy+}',
      },
    });
  });

  test('joins repeated headers and leaves cookies out of them', async () => {
    const event = await new Promise<Record<string, Record<string, string>>>((resolve, reject) => {
      request(`${front.url}/x`, { headers: { 'X-Many': ['a', 'b'], cookie: 'c=1' } }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(JSON.parse(text)));
      })
        .on('error', reject)
        .end();
    });
    expect(event.headers?.['x-many']).toBe('a,b');
    expect(event.headers).not.toHaveProperty('cookie');
    expect(event).not.toHaveProperty('body');
    expect(event).not.toHaveProperty('queryStringParameters');
  });

  test.each([
    ['application/octet-stream', Buffer.from([0, 1, 255])],
    ['application/json', Buffer.from([0x7b, 0xff, 0x7d])], // says JSON, is no UTF-8
  ])('carries bytes as base64 (%s)', async (type, bytes) => {
    const response = await fetch(`${front.url}/x`, { method: 'POST', body: bytes, headers: { 'content-type': type } });
    expect(await response.json()).toMatchObject({ isBase64Encoded: true, body: bytes.toString('base64') });
  });
});

describe('the answer', () => {
  test('status, headers, cookies and base64 bodies are sent as they are', async () => {
    const response = await answerWith({
      statusCode: 201,
      headers: { 'Content-Type': 'image/png', 'X-Number': 7 },
      cookies: ['a=1; Path=/', 'b=2'],
      body: Buffer.from([1, 2, 255]).toString('base64'),
      isBase64Encoded: true,
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(response.headers.get('x-number')).toBe('7');
    expect(response.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2']);
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([1, 2, 255]);
  });

  test.each([
    [{ hello: 'you' }, '{"hello":"you"}'],
    ['plain', 'plain'],
    [[1, 2], '[1,2]'],
  ])('without a status code the answer is the body: %j', async (answer, body) => {
    const response = await answerWith(answer);
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      'application/json',
      body,
    ]);
  });

  test.each([
    { statusCode: 'many' },
    { statusCode: 200, body: { no: 'text' } },
    { statusCode: 200, headers: 'none' },
    { statusCode: 200, headers: { 'bad header': 'x' } },
  ])('that cannot be sent is an internal error: %j', async (answer) => {
    const response = await answerWith(answer);
    expect([response.status, await response.json()]).toEqual([500, { message: 'Internal Server Error' }]);
  });

  test('of a failed function tells nothing of the failure', async () => {
    const response = await fetch(`${front.url}/fails`);
    expect([response.status, await response.json()]).toEqual([500, { message: 'Internal Server Error' }]);
  });
});

test('a function that takes too long is a 503', async () => {
  const response = await fetch(`${front.url}/slow`);
  expect([response.status, await response.json()]).toEqual([503, { message: 'Service Unavailable' }]);
});

test.each(['/forbidden', '/events-only'])(
  'a route without a permission for API Gateway answers 500: %s',
  async (path) => {
    const response = await fetch(front.url + path);
    expect([response.status, await response.json()]).toEqual([500, { message: 'Internal Server Error' }]);
  },
);

test.each([
  [7 * 1024 * 1024, 'under the limit of the API, over that of the function'],
  [11 * 1024 * 1024, 'over the limit of the API'],
])('a body of %d bytes is a 413: %s', async (bytes) => {
  const response = await fetch(`${front.url}/x`, { method: 'POST', body: 'x'.repeat(bytes) });
  expect(response.status).toBe(413);
  expect((await fetch(`${front.url}/x`)).status).toBe(200);
});

test('rules are fired by name; an unknown one is told which there are', async () => {
  expect((await fetch(`${front.url}/_local/rules/tick/fire`, { method: 'POST' })).status).toBe(202);
  expect(fired).toEqual(['tick']);
  const unknown = await fetch(`${front.url}/_local/rules/nope/fire`, { method: 'POST' });
  expect(unknown.status).toBe(404);
  expect(unknown.headers.get('content-type')).toBe('application/problem+json');
  expect(await unknown.json()).toMatchObject({ code: 'not_found', rules: ['tick', 'sweep'] });
  expect((await fetch(`${front.url}/_local/rules/tick/fire`)).status).toBe(405);
});

test('before it is opened everything answers 503 problem+json', async () => {
  const early = await startFront(0);
  const response = await fetch(`${early.url}/health`);
  await early.close();
  expect(response.status).toBe(503);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
});

test('a taken port is an error', async () => {
  await expect(startFront(Number(new URL(front.url).port))).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
