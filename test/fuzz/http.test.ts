import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Route } from '../../lib/http/define-route.ts';
import { matchRoute } from '../../lib/http/match.ts';
import { detailView, problemView } from '../../lib/http/problem.ts';
import { ROUTES } from '../../lib/http/routes/all.ts';
import { AppError } from '../../lib/kernel/errors.ts';
import { mutated, near, sent } from './support/json.ts';
import { runs, TEST_MS } from './support/runs.ts';
import { type Answered, differences, makeWorld, type Sent, traces, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});

const routeOf = ({ method, path }: Sent): Route | undefined => {
  try {
    return matchRoute(ROUTES, method, path).route;
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
};

const asResponse = (route: Route, answer: Answered): string[] => {
  const schema = route.responses[answer.status];
  if (schema === undefined) return [`${route.operationId} does not promise a ${answer.status}`];
  if (schema === null) return answer.text === '' ? [] : ['a body where there is none'];
  if (schema === 'raw') return [];
  const parsed = schema.safeParse(answer.json);
  return parsed.success ? [] : [z.prettifyError(parsed.error)];
};

const asProblem = (answer: Answered, path: string): string[] => {
  if (answer.type !== 'application/problem+json') return [`content type ${answer.type}`];
  const parsed = problemView.safeParse(answer.json);
  if (!parsed.success) return [z.prettifyError(parsed.error)];
  const { status, code, instance } = parsed.data;
  return [
    ...(status === answer.status ? [] : [`status ${status} in a ${answer.status}`]),
    ...(/^[a-z][a-z0-9_]*$/.test(code) ? [] : [`code ${code}`]),
    ...(instance === path ? [] : [`instance ${instance}`]),
  ];
};

/** SuperAGI's own form of an error. */
const asDetail = (answer: Answered): string[] => {
  if (answer.type !== 'application/json') return [`content type ${answer.type}`];
  const parsed = detailView.safeParse(answer.json);
  return parsed.success ? [] : [z.prettifyError(parsed.error)];
};

/** Sends one request and looks at everything that must be true of it. */
const look = async (request: Sent): Promise<Answered> => {
  const before = traces(world);
  world.errors.length = 0;
  const answer = await world.send(request);
  const logged = world.errors.map((error) =>
    error instanceof Error ? `${error.message}\n${error.stack}` : String(error),
  );
  expect([answer.status, ...logged]).toEqual([Math.min(answer.status, 499)]);
  expect(answer.status).toBeGreaterThanOrEqual(200);
  if (answer.status >= 400) {
    const detail = routeOf(request)?.errors === 'detail';
    if (request.method !== 'HEAD') {
      expect(detail ? asDetail(answer) : asProblem(answer, request.path)).toEqual([]);
    }
    expect(differences(before, traces(world))).toEqual([]);
    return answer;
  }
  const route = routeOf(request);
  expect(route?.operationId).toBeDefined();
  if (route !== undefined && request.method !== 'HEAD') expect(asResponse(route, answer)).toEqual([]);
  return answer;
};

/** Requests are made for the world as it stands, so fast-check cannot print them: a failure tells which one it was. */
const check = async (request: Sent): Promise<Answered> => {
  try {
    return await look(request);
  } catch (error) {
    throw new Error(`${JSON.stringify(request).slice(0, 1_000)}\n${String(error)}`, { cause: error });
  }
};

/** Ids of this organisation, of the other one, of nobody, and what is no id. */
const idFor = (name: string): fc.Arbitrary<(world: World) => string> => {
  const pick = (choose: (own: World['a']) => string, weight: number, whose: 'a' | 'b' = 'a') => ({
    weight,
    arbitrary: fc.constant((from: World) => choose(from[whose])),
  });
  const junk = {
    weight: 1,
    arbitrary: fc
      .oneof(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
        fc.constantFrom('..', '%', '#', 'exe_', 'a/b', '\u0000', `exe_${'0'.repeat(26)}`),
      )
      .map((text) => () => encodeURIComponent(text.toWellFormed())),
  };
  switch (name) {
    case 'agentId':
      return fc.oneof(
        pick((own) => own.agentId, 6),
        pick((own) => own.agentId, 1, 'b'),
        junk,
      );
    case 'projectId':
      return fc.oneof(
        pick((own) => own.projectId, 6),
        pick((own) => own.projectId, 1, 'b'),
        junk,
      );
    case 'keyId':
      return fc.oneof(
        pick((own) => own.keyId, 3),
        pick((own) => own.keyId, 1, 'b'),
        junk,
      );
    case 'permissionId':
      return fc.oneof(
        pick((own) => own.permissionId, 6),
        pick((own) => own.permissionId, 1, 'b'),
        junk,
      );
    case 'executionId':
      return fc.oneof(
        { weight: 10, arbitrary: fc.nat(5).map((n) => (from: World) => from.a.executions[n] ?? '') },
        { weight: 1, arbitrary: fc.nat(5).map((n) => (from: World) => from.b.executions[n] ?? '') },
        junk,
      );
    case 'path':
      return fc.oneof({ weight: 3, arbitrary: fc.constant(() => 'report.md') }, junk);
    case 'name':
      return fc.oneof({ weight: 4, arbitrary: fc.constantFrom('mine', 'other').map((text) => () => text) }, junk);
    case 'key':
      return fc.oneof(
        {
          weight: 4,
          arbitrary: fc.constantFrom('goals', 'custom', 'maxIterations', 'constructor').map((text) => () => text),
        },
        junk,
      );
    default:
      return junk.arbitrary;
  }
};

const pathOf = (route: Route): fc.Arbitrary<(world: World) => string> => {
  const names = [...route.path.matchAll(/\{(\w+)\+?\}/g)].map(([, name = '']) => name);
  return fc.tuple(...names.map(idFor)).map((values) => (from) => {
    let at = 0;
    return route.path.replace(/\{\w+\+?\}/g, () => values[at++]?.(from) ?? '');
  });
};

/** Not for the agent and key that everything else needs. */
const spared = (route: Route, path: string, from: World): string =>
  route.operationId === 'deleteAgent' ? path.replace(from.a.agentId, from.a.spare) : path;

const keyOf = fc.oneof(
  { weight: 12, arbitrary: fc.constant((from: World) => ({ authorization: `Bearer ${from.a.apiKey}` })) },
  { weight: 1, arbitrary: fc.constant((from: World) => ({ 'X-API-KEY': from.a.apiKey })) },
  { weight: 1, arbitrary: fc.constant((from: World) => ({ authorization: `Bearer ${from.a.apiKey},Bearer x` })) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: 'binary' }).map((text) => () => ({ authorization: text, 'x-api-key': text })),
  },
  { weight: 1, arbitrary: fc.constant(() => ({})) },
);

const otherHeaders = fc.record(
  {
    'Idempotency-Key': fc.oneof(
      fc.constantFrom('one', 'two', '', ' ', 'x'.repeat(256)),
      fc.string({ unit: 'binary', maxLength: 20 }),
    ),
    'content-type': fc.constantFrom('application/json', 'text/plain', 'application/x-www-form-urlencoded', ''),
    __proto__x: fc.string(),
    'content-length': fc.constantFrom('0', '-1', 'many'),
    expect: fc.constant('100-continue'),
  },
  { requiredKeys: [] },
);

/** A cursor that a client forged: the organisation and the list are right, the position is whatever it likes. */
const forged: fc.Arbitrary<(world: World, path: string) => string> = fc
  .tuple(
    fc.constantFrom('agents?projectId=', 'projects', 'keys', 'permissions?status=', 'executions?agentId=&status='),
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '0',
        '-1',
        '1e400',
        '9007199254740993',
        '1.101',
        '999999999.9999',
        'x'.repeat(1_024),
        '漢'.repeat(341),
      ),
    ),
    fc.constantFrom('', 'PROJECT#', 'APIKEY#', 'EXECUTION#'),
    fc.constantFrom(0, 0, 0, 1, 2),
  )
  .map(([list, position, prefix, wrong]) => (from, path) => {
    const own = /\/v1\/executions\/([^/]+)\/(feed|steps|files)/.exec(path);
    const o = wrong === 1 ? from.b.orgId : from.a.orgId;
    const l = wrong === 2 ? 'other' : own === null ? list : `${own[2]}/${own[1]}`;
    return Buffer.from(JSON.stringify({ v: 1, o, l, p: prefix + position })).toString('base64url');
  });

const queryOf = (route: Route): fc.Arbitrary<(world: World, path: string) => string> => {
  const names = Object.keys(route.query?.shape ?? {});
  const plain = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('1', '2', '20', '1000', '0', '-1', '1e3', 'x', '', 'RUNNING', 'pending') },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  );
  const name = fc.constantFrom(...names, ...names, 'stranger', '__proto__');
  const pair = fc.tuple(name, plain, forged).map(([field, text, forge]) => (from: World, path: string) => {
    const value = field === 'cursor' || field === 'after' ? forge(from, path) : text;
    return `${field}=${encodeURIComponent(value.toWellFormed())}`;
  });
  const pairs = fc.uniqueArray(pair, { maxLength: 3 });
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(() => '') },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }).map((text) => () => text) },
    {
      weight: 3,
      arbitrary: pairs.map((all) => (from: World, path: string) => all.map((one) => one(from, path)).join('&')),
    },
  );
};

const requestFor = (route: Route): fc.Arbitrary<(world: World) => Sent> => {
  const values = route.body === undefined ? fc.constantFrom<unknown>(undefined, {}, { stray: 1 }) : near(route.body);
  const body = sent(fc.oneof({ weight: 2, arbitrary: values }, { weight: 3, arbitrary: mutated(values) }));
  return fc
    .tuple(pathOf(route), queryOf(route), keyOf, otherHeaders, body)
    .map(([pathFor, query, key, more, { text, base64 }]) => (from) => {
      const path = spared(route, pathFor(from), from);
      const headers = { ...more, ...key(from) };
      return { method: route.method, path, query: query(from, path), headers, body: text, base64 };
    });
};

it('the bodies that are made for a route mostly fit it', () => {
  for (const { body, operationId } of ROUTES) {
    if (body === undefined) continue;
    const made = fc.sample(near(body), { seed: 1, numRuns: 200 });
    const fit = made.filter((value) => body.safeParse(value).success).length;
    expect(fit, operationId).toBeGreaterThan(10);
  }
});

describe('the API over its real services', () => {
  it.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s takes whatever comes',
    { timeout: TEST_MS },
    async (_, route) => {
      const answered = new Set<number>();
      await fc.assert(
        fc.asyncProperty(requestFor(route), async (request) => {
          answered.add((await check(request(world))).status);
        }),
        runs(60),
      );
      expect(answered.size).toBeGreaterThan(0);
    },
  );

  it('every path and method is answered', { timeout: TEST_MS }, async () => {
    const segment = fc.oneof(
      fc.constantFrom(
        'v1',
        'agents',
        'executions',
        'feed',
        'files',
        'config',
        'health',
        '',
        '.',
        '..',
        '%2F',
        '%',
        '%00',
        '%C0',
        'ü',
        '{agentId}',
      ),
      fc.string({ unit: 'binary', maxLength: 10 }),
      fc.constant('x'.repeat(9_000)),
    );
    const path = fc.array(segment, { maxLength: 7 }).map((parts) => `/${parts.join('/')}`);
    const method = fc.oneof(
      fc.constantFrom(
        'GET',
        'POST',
        'PUT',
        'PATCH',
        'DELETE',
        'HEAD',
        'OPTIONS',
        'TRACE',
        'get',
        'BREW',
        '',
        '__proto__',
      ),
      fc.string({ maxLength: 5 }),
    );
    await fc.assert(
      fc.asyncProperty(method, path, keyOf, otherHeaders, async (verb, to, key, more) => {
        await check({ method: verb, path: to, headers: { ...more, ...key(world) }, body: '{}' });
      }),
      runs(300),
    );
  });

  it('the other organisation is as it was', () => {
    const rows = world.table.dump().filter((row) => row.pk.includes(world.b.orgId));
    expect(rows.some((row) => row.sk === 'PROVIDER#mine' && row.hasKey === true)).toBe(true);
    expect(rows.filter((row) => row.sk === 'EXEC').map((row) => row.st)).toEqual([
      'COMPLETED',
      'WAITING_FOR_PERMISSION',
      'WAITING_FOR_INPUT',
      'ITERATION_LIMIT_EXCEEDED',
      'PAUSED',
      'RUNNING',
    ]);
  });
});
