import type { LocalRoute } from '../template/assembly.ts';

export interface RouteMatch {
  readonly route: LocalRoute;
  readonly pathParameters: { readonly [name: string]: string };
}

interface Candidate extends RouteMatch {
  /** Larger is more specific. */
  readonly rank: number;
}

/**
 * The route of an HTTP API for a request: the most specific path wins (exact segments before parameters before a greedy
 * one), a method before `ANY`, and `$default` is last.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-routes.html
 * @param path decoded
 */
export const matchRoute = (routes: readonly LocalRoute[], method: string, path: string): RouteMatch | undefined => {
  const segments = path.slice(1).split('/');
  const candidates = routes.flatMap((route) => candidate(route, method, segments) ?? []);
  return candidates.sort((a, b) => b.rank - a.rank)[0];
};

const candidate = (route: LocalRoute, method: string, segments: readonly string[]): Candidate | undefined => {
  if (route.routeKey === '$default') return { route, pathParameters: {}, rank: -1 };
  const [routeMethod, routePath = '/'] = route.routeKey.split(' ');
  if (routeMethod !== 'ANY' && routeMethod !== method) return undefined;
  const found = matchPath(routePath.slice(1).split('/'), segments);
  if (found === undefined) return undefined;
  return { route, pathParameters: found.pathParameters, rank: found.rank * 2 + (routeMethod === 'ANY' ? 0 : 1) };
};

const matchPath = (
  template: readonly string[],
  segments: readonly string[],
): { readonly pathParameters: { readonly [name: string]: string }; readonly rank: number } | undefined => {
  const pathParameters: { [name: string]: string } = {};
  let rank = 0;
  for (const [i, part] of template.entries()) {
    const segment = segments[i];
    const [, name, greedy] = /^\{([^}+]+)(\+?)\}$/.exec(part) ?? [];
    if (segment === undefined || (name !== undefined && segment === '')) return undefined;
    rank *= 3;
    if (name === undefined) {
      if (segment !== part) return undefined;
      rank += 2;
    } else if (greedy === '+') {
      pathParameters[name] = segments.slice(i).join('/');
      // The rest counts as the least specific, however long it is.
      return { pathParameters, rank: rank * 3 ** (MAX_DEPTH - i) };
    } else {
      pathParameters[name] = segment;
      rank += 1;
    }
  }
  if (segments.length !== template.length) return undefined;
  return { pathParameters, rank: rank * 3 ** (MAX_DEPTH - template.length + 1) };
};

/** Deeper routes do not exist here; it only puts ranks of different lengths on one scale. */
const MAX_DEPTH = 12;
