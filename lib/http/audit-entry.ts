/** What a request says of itself in the audit. Pure. */
import { AppError } from '../kernel/errors.ts';
import { ID_PREFIXES } from '../kernel/ids.ts';
import type { Value } from '../kernel/table.ts';
import type { AuditSubject, Settled } from '../tenancy/audit.ts';
import type { Principal } from '../tenancy/authenticate.ts';
import { type Answer, ID_PARAMS, type Route } from './define-route.ts';

/** Members of bodies whose values may be shown. All others could be a secret, or somebody's words: their names will do. */
const SHOWN: ReadonlySet<string> = new Set([
  'agentId',
  'cron',
  'dailyBudgetUsd',
  'decision',
  'default',
  'every',
  'events',
  'expiresAt',
  'maxCostUsd',
  'maxIterations',
  'maxRuns',
  'maxSeconds',
  'maxTokens',
  'misfire',
  'name',
  'overlap',
  'projectId',
  'scopes',
  'startAt',
  'state',
  'timezone',
  'workflow',
]);
const MOST_FIELDS = 50;
const MOST_CHARACTERS = 200;
const LEAST_NUMBER = 1e-100;

const short = (text: string): string => text.toWellFormed().slice(0, MOST_CHARACTERS).toWellFormed();

const shown = (value: unknown): Value | undefined => {
  if (typeof value === 'string') return short(value);
  // The table holds no number between 0 and 1e-130.
  if (typeof value === 'number') return Math.abs(value) < LEAST_NUMBER && value !== 0 ? String(value) : value;
  if (typeof value === 'boolean' || value === null) return value;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.slice(0, 20).map(short);
  return undefined;
};

/** Names of what the path leads through, by parameter; of the body the names of its members, and values that may be shown. */
export const auditDetails = (params: { readonly [name: string]: string }, body: unknown): { [name: string]: Value } => {
  const members = typeof body === 'object' && body !== null && !Array.isArray(body) ? Object.entries(body) : [];
  const values = members.flatMap(([name, value]): [string, Value][] => {
    const text = SHOWN.has(name) ? shown(value) : undefined;
    return text === undefined ? [] : [[name, text]];
  });
  const named = Object.entries(params).map(([name, value]) => [name, short(value)] as const);
  return {
    ...(named.length > 0 && { params: Object.fromEntries(named) }),
    ...(members.length > 0 && { fields: members.slice(0, MOST_FIELDS).map(([name]) => short(name)) }),
    ...(values.length > 0 && { values: Object.fromEntries(values) }),
  };
};

const KIND_OF: ReadonlyMap<string, string> = new Map(
  Object.values(ID_PARAMS).map(({ prefix, what }) => [prefix, what] as const),
);

/** The last thing with an id that the path names, else the last word of it that is a parameter, else the organisation. */
export const auditSubject = (
  { path }: Route,
  params: { readonly [name: string]: string },
  { orgId }: Principal,
): AuditSubject => {
  const names = [...path.matchAll(/([^/]+)\/\{([^}+]+)\+?\}/g)].map(([, before = '', name = '']) => ({ before, name }));
  const withId = names.findLast(({ name }) => ID_PARAMS[name] !== undefined);
  if (withId !== undefined)
    return { type: ID_PARAMS[withId.name]?.what ?? withId.before, id: params[withId.name] ?? '' };
  const last = names.at(-1);
  if (last === undefined) return { type: 'organisation', id: orgId };
  return { type: last.before.replace(/s$/, ''), id: short(params[last.name] ?? '') };
};

const CREATED: readonly number[] = [201, 202];

/** What was made has an id only afterwards. */
const made = (route: Route, { status, body }: Answer): AuditSubject | undefined => {
  const answered = status ?? Number(Object.keys(route.responses)[0]);
  const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : undefined;
  if (route.method !== 'POST' || !CREATED.includes(answered) || typeof id !== 'string') return undefined;
  const prefix = ID_PREFIXES.find((each) => id.startsWith(`${each}_`));
  // `POST /v1/workflows` makes a workflow.
  const named = /([a-z]+?)s?$/.exec(route.path)?.[1] ?? '';
  return prefix === undefined ? undefined : { type: KIND_OF.get(prefix) ?? named, id };
};

export const settledBy = (route: Route, given: Answer): Settled => ({
  state: 'done',
  status: given.status ?? Number(Object.keys(route.responses)[0]),
  subject: made(route, given),
});

export const settledByError = (error: unknown): Settled =>
  error instanceof AppError && error.status < 500
    ? { state: 'refused', status: error.status, code: error.code }
    : { state: 'failed' };
