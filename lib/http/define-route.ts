import type * as z from 'zod';
import type { IdPrefix } from '../kernel/ids.ts';
import type { Write } from '../kernel/table.ts';
import type { Principal } from '../tenancy/authenticate.ts';
import type { Scope } from '../tenancy/scope.ts';
import type { ApiDeps } from './deps.ts';
import type { ListRequest } from './paging.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `{agentId}` is one segment, `{path+}` at the end is the rest of the path. */
type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name extends `${infer Plain}+` ? Plain : Name]: string } & ParamsOf<Rest>
  : unknown;

interface IdParam {
  readonly prefix: IdPrefix;
  readonly what: string;
  /** What follows the 26 characters, as a pattern. */
  readonly tail?: string;
}

/** Text of an id's pattern, for the OpenAPI document and for the check. */
export const idPattern = ({ prefix, tail = '' }: IdParam): string => `^${prefix}_[0-9a-hjkmnp-tv-z]{26}${tail}$`;

/** Path parameters that are ids: another shape is a 404 before anything is read. */
export const ID_PARAMS: { readonly [name: string]: IdParam } = {
  projectId: { prefix: 'prj', what: 'project' },
  agentId: { prefix: 'agt', what: 'agent' },
  executionId: { prefix: 'exe', what: 'execution' },
  // It says where the row is: the execution's characters, the step, the call.
  permissionId: { prefix: 'ask', what: 'permission', tail: '_[0-9]{1,9}_[0-9]{1,4}' },
  keyId: { prefix: 'key', what: 'key' },
  webhookId: { prefix: 'whk', what: 'webhook' },
  deliveryId: { prefix: 'dlv', what: 'delivery' },
  templateId: { prefix: 'tpl', what: 'template' },
  scheduleId: { prefix: 'sch', what: 'schedule' },
  attentionId: { prefix: 'att', what: 'attention item' },
  sourceId: { prefix: 'src', what: 'source' },
  threadId: { prefix: 'thr', what: 'thread' },
  effectId: { prefix: 'eff', what: 'effect' },
  ticketId: { prefix: 'tkt', what: 'ticket' },
};

/** A body that is not JSON. */
export interface RawBody {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly fileName: string;
}

export interface Answer {
  /** Where a route has two good outcomes (201 made, 200 replaced). Otherwise the route's own. */
  readonly status?: number;
  readonly body?: unknown;
  readonly raw?: RawBody;
}

export interface Call<Params, Query, Body> {
  readonly deps: ApiDeps;
  /** Of a public route there is none: `orgId` and `keyId` are empty. */
  readonly principal: Principal;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly now: number;
  /** Milliseconds until the function is stopped. */
  readonly remainingMs: () => number;
  /** Of this API, as the caller reached it: `https://api.example.org`. */
  readonly origin: string;
  /** The record of an idempotency key, to be written with what is created; nothing when no key was sent. */
  readonly record: (created: unknown) => readonly Write[];
  /** Where a list begins; `name` is the list's own, filters included. */
  readonly page: (name: string) => ListRequest;
}

/** A route as the router and the OpenAPI document see it. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
  /** The least scope a key needs. */
  readonly scope: Scope | 'public';
  readonly query?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
  /** Good statuses and what they carry. `null`: no body; `raw`: bytes. */
  readonly responses: { readonly [status: number]: z.ZodType | 'raw' | null };
  /** Problems besides 400, 401, 403, 413 and 429. */
  readonly problems?: readonly number[] | undefined;
  /** Takes `Idempotency-Key`. `secret`: the first answer held a secret and is not repeated. */
  readonly idempotent?: boolean | 'secret' | undefined;
  readonly list?: boolean | undefined;
  /** `detail`: errors are `{"detail": …}` instead of problem documents. */
  readonly errors?: 'detail' | undefined;
  readonly handler: (call: Call<unknown, unknown, unknown>) => Promise<Answer>;
}

interface Definition<Path extends string, Query extends z.ZodObject | undefined, Body extends z.ZodType | undefined>
  extends Omit<Route, 'path' | 'query' | 'body' | 'handler'> {
  readonly path: Path;
  readonly query?: Query;
  readonly body?: Body;
  readonly handler: (call: Call<ParamsOf<Path>, Parsed<Query>, Parsed<Body>>) => Promise<Answer>;
}

type Parsed<Schema extends z.ZodType | undefined> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** One line of the route table; the handler gets what its schemas promise. */
export const defineRoute = <
  const Path extends string,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(
  definition: Definition<Path, Query, Body>,
): Route => ({
  ...definition,
  // The router parses with exactly these schemas before it calls, so the types hold.
  handler: (call) => definition.handler(call as Call<ParamsOf<Path>, Parsed<Query>, Parsed<Body>>),
});
