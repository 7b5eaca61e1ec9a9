import * as z from 'zod';
import { closeAttention } from '../../attention/attention.ts';
import { daySpentCause } from '../../attention/day-spent.ts';
import { dayOf } from '../../kernel/day.ts';
import { budgetDay, setDailyBudget } from '../../tenancy/daily-budget.ts';
import {
  getOrganisation,
  type Organisation,
  resumeOrganisation,
  stopOrganisation,
} from '../../tenancy/organisation.ts';
import { spentOn } from '../../usage/list.ts';
import { defineRoute, type Route } from '../define-route.ts';
import type { ApiDeps } from '../deps.ts';
import { time } from './fields.ts';

const organisationView = z
  .object({
    id: z.string(),
    name: z.string(),
    createdAt: time,
    defaultProjectId: z.string(),
    dailyBudgetUsd: z.number().optional().describe('What all its runs together may spend on one UTC day.'),
    today: z
      .object({
        day: z.string(),
        grantedUsd: z
          .number()
          .describe('Given out to runs before they spend it, spent or not. This is what dailyBudgetUsd limits.'),
        spentUsd: z
          .number()
          .describe(
            'As the usage of the day says; of runs that go on, up to a minute ago. It may be above grantedUsd: a step that was lost is booked at the worst case of each of its claims, also of one that bought nothing, and a day is booked what runs had been given the day before.',
          ),
      })
      .optional(),
    stopped: z.object({ at: time, by: z.string() }).optional().describe('Everything is held since then.'),
  })
  .meta({ id: 'Organisation' });

const MICRO = 1_000_000;

const organisationJson = ({ dailyBudget, ...rest }: Organisation) => ({
  ...rest,
  ...(dailyBudget !== undefined && { dailyBudgetUsd: dailyBudget / MICRO }),
});

const withToday = async (deps: ApiDeps, organisation: Organisation, now: number) => {
  const { id, dailyBudget } = organisation;
  if (dailyBudget === undefined) return organisationJson(organisation);
  const day = dayOf(now);
  const [{ granted }, spent] = await Promise.all([budgetDay(deps.table, id, day), spentOn(deps, id, day)]);
  return { ...organisationJson(organisation), today: { day, grantedUsd: granted / MICRO, spentUsd: spent / MICRO } };
};

export const organisationRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/v1/organisation',
    operationId: 'getOrganisation',
    summary: 'Get the organisation of the key.',
    tag: 'Organisation',
    scope: 'read',
    responses: { 200: organisationView },
    handler: async ({ deps, principal: { orgId }, now }) => ({
      body: await withToday(deps, await getOrganisation(deps.table, orgId), now),
    }),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/v1/organisation',
    operationId: 'changeOrganisation',
    summary: 'Set or remove the daily budget. It counts at once; runs that it stopped are resumed one by one.',
    tag: 'Organisation',
    scope: 'admin',
    body: z.strictObject({ dailyBudgetUsd: z.number().min(0).max(1_000_000).nullable() }),
    responses: { 200: organisationView },
    handler: async ({ deps, principal: { orgId }, body: { dailyBudgetUsd }, now }) => {
      const spent = await spentOn(deps, orgId, dayOf(now));
      const closed = (day: string) => [closeAttention(daySpentCause({ orgId, day }))];
      const changed = await setDailyBudget(deps.table, { orgId, usd: dailyBudgetUsd, spent }, now, closed);
      return { body: await withToday(deps, changed, now) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/organisation/stop',
    operationId: 'stopOrganisation',
    summary: 'Hold everything: steps, Evals and effects. What comes in is still stored.',
    tag: 'Organisation',
    scope: 'admin',
    responses: { 200: organisationView },
    handler: async ({ deps, principal: { orgId, keyId }, now }) => ({
      body: organisationJson(await stopOrganisation(deps.table, orgId, keyId, now)),
    }),
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/organisation/resume',
    operationId: 'resumeOrganisation',
    summary: 'Let everything go on where it stood.',
    tag: 'Organisation',
    scope: 'admin',
    responses: { 200: organisationView },
    handler: async ({ deps, principal }) => ({
      body: organisationJson(
        await resumeOrganisation(deps.table, principal.orgId, (orgId) => deps.executions.wakeOrganisation(orgId)),
      ),
    }),
  }),
];
