import { AppError, notFound } from '../kernel/errors.ts';
import { ID_PARAMS, idPattern, type Route } from './define-route.ts';

export interface Match {
  readonly route: Route;
  readonly params: { readonly [name: string]: string };
}

/** Segments of a path. One that is no valid percent-encoding is taken as it is: API Gateway may have decoded it already. */
const segmentsOf = (path: string): string[] =>
  path
    .replace(/^\//, '')
    .split('/')
    .map((segment) => {
      try {
        return decodeURIComponent(segment);
      } catch {
        return segment;
      }
    });

const paramsIn = (pattern: string, segments: readonly string[]): Match['params'] | undefined => {
  const parts = pattern.slice(1).split('/');
  const params: { [name: string]: string } = {};
  for (const [i, part] of parts.entries()) {
    const segment = segments[i];
    if (segment === undefined) return undefined;
    if (part.endsWith('+}')) {
      params[part.slice(1, -2)] = segments.slice(i).join('/');
      return segments.slice(i).join('') === '' ? undefined : params;
    }
    if (part.startsWith('{')) {
      if (segment === '') return undefined;
      params[part.slice(1, -1)] = segment;
    } else if (part !== segment) return undefined;
  }
  return parts.length === segments.length ? params : undefined;
};

/**
 * Finds the route; HEAD is answered as GET. A trailing slash does not matter.
 * @throws AppError 404 `no_such_route`, 405 `method_not_allowed` with what is allowed
 */
export const matchRoute = (routes: readonly Route[], method: string, path: string): Match => {
  const segments = segmentsOf(path.length > 1 ? path.replace(/\/$/, '') : path);
  const wanted = method === 'HEAD' ? 'GET' : method;
  const fitting = routes.flatMap((route) => {
    const params = paramsIn(route.path, segments);
    return params === undefined ? [] : [{ route, params }];
  });
  const match = fitting.find(({ route }) => route.method === wanted);
  if (match !== undefined) return match;
  if (fitting.length === 0) throw new AppError(404, 'no_such_route', 'There is nothing at this address.');
  const allow = [
    ...new Set(fitting.flatMap(({ route: { method } }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))),
  ];
  throw new AppError(405, 'method_not_allowed', `This address takes ${allow.join(', ')}.`, { allow });
};

/** An id of another shape names nothing, and never becomes part of a key. @throws AppError 404 */
export const checkIds = (params: Match['params']): void => {
  for (const [name, value] of Object.entries(params)) {
    const expected = ID_PARAMS[name];
    if (expected !== undefined && !new RegExp(idPattern(expected)).test(value)) throw notFound(expected.what);
  }
};
