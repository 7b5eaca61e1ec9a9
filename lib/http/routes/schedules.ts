import * as z from 'zod';
import { CONFIG_SCHEMAS } from '../../agent/config-keys.ts';
import { allAsTheyAre, asItIs, demandAgent } from '../../schedule/agent-gone.ts';
import {
  type Command,
  deleteSchedule,
  patchSchedule,
  pauseSchedule,
  resumeSchedule,
} from '../../schedule/change-schedule.ts';
import { createSchedule } from '../../schedule/create-schedule.ts';
import { listSchedules, nextFires } from '../../schedule/list-schedules.ts';
import { getSchedule, MISFIRES, OVERLAPS } from '../../schedule/schedule.ts';
import { type Call, defineRoute, type Route } from '../define-route.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';
import { scheduleJson, scheduleView } from '../schedule-json.ts';
import { demandChange, moment, time } from './fields.ts';

const text = z.string().min(1).max(200);

const startAt = moment.describe('First fire; now if missing. Times before it never fire.');
const every = text.describe(
  'ISO 8601 duration, months of the calendar (PT15M, P1D, P1M); or "N Minutes", Hours, Days, Weeks, Months of 30 days. At least a minute.',
);
const cron = text.describe('Five fields, in the time zone of the schedule.');
const timezone = z.string().min(1).max(100).describe('IANA name, or an offset such as +02:00; without it UTC.');
const expiresAt = moment.describe('Nothing is due from then on.');
const maxRuns = z.int().min(1).max(1_000_000_000).describe('Ends the schedule after this many runs.');
const overlap = z.enum(OVERLAPS).describe('While a run goes on: skip (default), allow, or queue one.');
const misfire = z.enum(MISFIRES).describe('Later than a minute: fire-once (default) for all that was missed, or skip.');
const goals = CONFIG_SCHEMAS.goals.describe("In place of the agent's own.");
const instructions = CONFIG_SCHEMAS.instructions.describe("In place of the agent's own.");

const newSchedule = z.strictObject({
  agentId: z.string(),
  startAt: startAt.optional(),
  every: every.optional(),
  cron: cron.optional(),
  timezone: timezone.optional(),
  expiresAt: expiresAt.optional(),
  maxRuns: maxRuns.optional(),
  overlap: overlap.optional(),
  misfire: misfire.optional(),
  goals: goals.optional(),
  instructions: instructions.optional(),
});

const scheduleChanges = z.strictObject({
  startAt: startAt.optional(),
  every: every.nullable().optional(),
  cron: cron.nullable().optional(),
  timezone: timezone.optional(),
  expiresAt: expiresAt.nullable().optional(),
  maxRuns: maxRuns.nullable().optional(),
  overlap: overlap.optional(),
  misfire: misfire.optional(),
  goals: goals.nullable().optional(),
  instructions: instructions.nullable().optional(),
});

type ScheduleCall = Call<{ readonly scheduleId: string }, unknown, unknown>;

const commandOf = ({ principal: { orgId, keyId }, params }: Pick<ScheduleCall, 'principal' | 'params'>): Command => ({
  orgId,
  scheduleId: params.scheduleId,
  actor: keyId,
});

const control = (verb: 'pause' | 'resume', summary: string, act: typeof pauseSchedule): Route =>
  defineRoute({
    method: 'POST',
    path: `/v1/schedules/{scheduleId}/${verb}`,
    operationId: `${verb}Schedule`,
    summary,
    tag: 'Schedules',
    scope: 'run',
    responses: { 200: scheduleView },
    problems: [404, 409],
    handler: async (call) => ({ body: scheduleJson(await act(call.deps, commandOf(call))) }),
  });

export const scheduleRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/v1/schedules',
    operationId: 'createSchedule',
    summary: 'Start runs of an agent at times to come: once, at intervals, or by cron.',
    tag: 'Schedules',
    scope: 'write',
    body: newSchedule,
    responses: { 201: scheduleView },
    problems: [404],
    idempotent: true,
    handler: async ({ deps, principal: { orgId, keyId }, body, record }) => {
      const alongside = (made: Parameters<typeof scheduleJson>[0]) => record(scheduleJson(made));
      return { body: scheduleJson(await createSchedule(deps, { orgId, actor: keyId, ...body, alongside })) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/schedules',
    operationId: 'listSchedules',
    summary: 'List schedules, newest first.',
    tag: 'Schedules',
    scope: 'read',
    query: z.strictObject({ ...pageQuery, agentId: z.string().optional() }),
    responses: { 200: listOf(scheduleView) },
    handler: async ({ deps, principal: { orgId }, query: { agentId }, page }) => {
      const at = page(`schedules?agentId=${agentId ?? ''}`);
      const { items, ...rest } = await listSchedules(deps, orgId, { agentId }, at);
      return { body: listBody(at, { items: (await allAsTheyAre(deps.table, items)).map(scheduleJson), ...rest }) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/schedules/{scheduleId}',
    operationId: 'getSchedule',
    summary: 'Get a schedule.',
    tag: 'Schedules',
    scope: 'read',
    responses: { 200: scheduleView },
    problems: [404],
    handler: async ({ deps, principal: { orgId }, params: { scheduleId } }) => ({
      body: scheduleJson(await asItIs(deps.table, await getSchedule(deps.table, { orgId, scheduleId }))),
    }),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/v1/schedules/{scheduleId}',
    operationId: 'changeSchedule',
    summary:
      'Change a schedule; null takes a field away. When it is due next is reckoned anew; where nothing follows it ends. One that stopped by itself stays paused, without its reason.',
    tag: 'Schedules',
    scope: 'write',
    body: scheduleChanges,
    responses: { 200: scheduleView },
    problems: [404, 409],
    handler: async (call) => {
      demandChange(call.body, scheduleChanges);
      return { body: scheduleJson(await patchSchedule(call.deps, commandOf(call), call.body)) };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/schedules/{scheduleId}',
    operationId: 'deleteSchedule',
    summary: 'Delete a schedule, also one whose row cannot be read. A run that goes on is not touched.',
    tag: 'Schedules',
    scope: 'write',
    responses: { 204: null },
    problems: [404],
    handler: async (call) => {
      await deleteSchedule(call.deps, commandOf(call));
      return {};
    },
  }),
  control('pause', 'Pause a schedule. Runs that go on are not touched.', pauseSchedule),
  control(
    'resume',
    'Resume a schedule. What was due meanwhile is late: misfire says what becomes of it.',
    resumeSchedule,
  ),
  defineRoute({
    method: 'GET',
    path: '/v1/schedules/{scheduleId}/next',
    operationId: 'previewSchedule',
    summary: 'The next times at which it is due. A 409 when its agent was deleted: nothing starts any more.',
    tag: 'Schedules',
    scope: 'read',
    query: z.strictObject({ count: z.coerce.number().pipe(z.int().min(1).max(100)).default(5) }),
    responses: { 200: z.object({ items: z.array(time) }).meta({ id: 'NextFires' }) },
    problems: [404, 409],
    handler: async ({ deps, principal: { orgId }, params: { scheduleId }, query: { count }, now }) => {
      const schedule = await getSchedule(deps.table, { orgId, scheduleId });
      await demandAgent(deps.table, schedule);
      return { body: { items: nextFires(schedule, now, count).map((at) => new Date(at).toISOString()) } };
    },
  }),
];
