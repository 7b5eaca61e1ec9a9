import { expect, test } from 'vitest';
import { matchRoute } from '../../../local/http/route-match.ts';
import type { LocalRoute } from '../../../local/template/assembly.ts';

const routes = [
  '$default',
  'ANY /{proxy+}',
  'GET /{proxy+}',
  'ANY /',
  'GET /pets/dog/1',
  'GET /pets/dog/{id}',
  'GET /pets/{kind}/1',
  'ANY /pets/{proxy+}',
  'POST /ingest/{sourceId}',
].map((routeKey): LocalRoute => ({ routeKey, functionArn: 'f', sourceArn: 's', apiId: 'a', timeoutMs: 1 }));

test.each([
  ['GET', '/pets/dog/1', 'GET /pets/dog/1', {}],
  ['GET', '/pets/dog/2', 'GET /pets/dog/{id}', { id: '2' }],
  ['GET', '/pets/cat/1', 'GET /pets/{kind}/1', { kind: 'cat' }],
  ['GET', '/pets/cat/2', 'ANY /pets/{proxy+}', { proxy: 'cat/2' }],
  ['PUT', '/pets/dog/1', 'ANY /pets/{proxy+}', { proxy: 'dog/1' }],
  ['GET', '/v1/agents', 'GET /{proxy+}', { proxy: 'v1/agents' }],
  ['PUT', '/v1/agents', 'ANY /{proxy+}', { proxy: 'v1/agents' }],
  ['PUT', '/', 'ANY /', {}],
  ['POST', '/ingest/src_1', 'POST /ingest/{sourceId}', { sourceId: 'src_1' }],
  ['GET', '/ingest/src_1', 'GET /{proxy+}', { proxy: 'ingest/src_1' }],
  ['POST', '/ingest/', 'ANY /{proxy+}', { proxy: 'ingest/' }],
  ['GET', '/a/b/c/d/e/f/g/h/i/j/k/l/m/n', 'GET /{proxy+}', { proxy: 'a/b/c/d/e/f/g/h/i/j/k/l/m/n' }],
])('%s %s goes to %s', (method, path, routeKey, pathParameters) => {
  const match = matchRoute(routes, method, path);
  expect([match?.route.routeKey, match?.pathParameters]).toEqual([routeKey, pathParameters]);
});

test('$default takes what nothing else does; without it there is no match', () => {
  const two = routes.filter(({ routeKey }) => routeKey === '$default' || routeKey.startsWith('POST'));
  expect(matchRoute(two, 'GET', '/x')?.route.routeKey).toBe('$default');
  expect(matchRoute(two.slice(1), 'GET', '/x')).toBeUndefined();
});
