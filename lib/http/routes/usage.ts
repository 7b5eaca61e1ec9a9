import * as z from 'zod';
import { dayOf, plusDays } from '../../kernel/day.ts';
import { badRequest } from '../../kernel/errors.ts';
import { DIMENSIONS } from '../../usage/figures.ts';
import { listUsage, type Used } from '../../usage/list.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';
import { day } from './fields.ts';

const MOST_DAYS = 366;
/** Days that are shown when nobody says which. */
const USUAL_DAYS = 30;
const MICRO = 1_000_000;

const usageView = z
  .object({
    key: z.string().describe('The day, the id of the agent or project, the name of the model or tool.'),
    runs: z.int().describe('Runs that started then; by model and tool, those that used it.'),
    calls: z.int().describe('Model calls, those of summaries too; by tool, calls of the tool.'),
    tokens: z.object({ input: z.int(), output: z.int(), cached: z.int().describe('Part of the input.') }),
    costUsd: z.number(),
    seconds: z.number().describe('Time spent RUNNING.'),
    errors: z.int().describe('How often runs stopped with an error; by tool, calls that failed.'),
  })
  .meta({ id: 'Usage' });

const usageJson = ({
  key,
  runs,
  calls,
  input,
  output,
  cached,
  cost,
  ms,
  errors,
}: Used): z.output<typeof usageView> => ({
  key,
  runs,
  calls,
  tokens: { input, output, cached },
  costUsd: cost / MICRO,
  seconds: ms / 1000,
  errors,
});

/** @throws AppError 400 naming the field */
const checkedRange = (given: { readonly from?: string | undefined; readonly to?: string | undefined }, now: number) => {
  const to = given.to ?? dayOf(now);
  const from = given.from ?? plusDays(to, 1 - USUAL_DAYS);
  if (from > to) {
    const error = { field: 'from', received: from, expected: `a day up to ${to}` };
    throw badRequest('The range ends before it begins.', [error]);
  }
  const latest = plusDays(from, MOST_DAYS - 1);
  if (to > latest) {
    const error = { field: 'to', received: to, expected: `a day up to ${latest}: ${MOST_DAYS} days at most` };
    throw badRequest('The range is too long.', [error]);
  }
  return { from, to };
};

export const usageRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/v1/usage',
    operationId: 'listUsage',
    summary: 'What was used: by day, agent, model, tool or project, sorted by key. Days are UTC, both ends included.',
    tag: 'Usage',
    scope: 'read',
    query: z.strictObject({
      ...pageQuery,
      from: day.optional().describe('Thirty days up to `to` if missing.'),
      to: day.optional().describe('Today if missing.'),
      by: z.enum(DIMENSIONS).default('day'),
    }),
    responses: { 200: listOf(usageView) },
    handler: async ({ deps, principal: { orgId }, query: { by, ...given }, page, now }) => {
      const { from, to } = checkedRange(given, now);
      const at = page(`usage?${JSON.stringify({ by, from, to })}`);
      const { items, ...rest } = await listUsage(deps, { orgId, by, from, to }, at);
      return { body: listBody(at, { items: items.map(usageJson), ...rest }) };
    },
  }),
];
