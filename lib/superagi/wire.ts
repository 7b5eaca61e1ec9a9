/** Bodies as SuperAGI's clients send them. Members that are not named here are ignored, as its own server does. */
import * as z from 'zod';
import { isTimezone, TIMEZONE_FORM } from '../schedule/timing.ts';

/** Its Python client sends `null` for whatever was not given. */
const maybe = <T extends z.ZodType>(type: T) => type.nullish();

/** Blank entries say nothing; its console leaves one in an empty list. */
const texts = z
  .array(z.string().max(20_000))
  .max(200)
  .transform((all) => all.filter((text) => text.trim() !== ''));

/** ISO 8601 with T or a space, or seconds (or milliseconds) since 1970. */
const moment = z.union([z.string().max(100), z.number()]);

const schedule = z.object({
  start_time: moment.describe('ISO 8601; without an offset in user_timezone. Or seconds since 1970.'),
  recurrence_interval: maybe(z.string().max(200)).describe(
    '"N Minutes", Hours, Days, Weeks or Months; without it once.',
  ),
  expiry_date: maybe(moment),
  expiry_runs: maybe(
    z
      .int()
      .min(-1)
      .max(1_000_000_000)
      .refine((runs) => runs !== 0, '1 or more, or -1 for no end'),
  ),
});
export type GivenSchedule = z.output<typeof schedule>;

const toolkits = z
  .array(z.object({ name: z.string().max(200), tools: maybe(z.array(z.string().max(200)).max(200)) }))
  .max(100);

const name = z.string().trim().min(1).max(200);

const fields = {
  name,
  description: z.string().max(10_000),
  goal: texts,
  instruction: texts,
  agent_workflow: z.string().max(200),
  constraints: texts,
  tools: toolkits,
  model: z.string().trim().min(1).max(200),
  max_iterations: z.int().min(1).max(1_000_000),
};

const always = {
  project_id: maybe(z.int().min(1)),
  permission_type: maybe(z.string().max(200)).describe('"God Mode" (without it) or "RESTRICTED".'),
  schedule: maybe(schedule),
  user_timezone: maybe(
    z
      .string()
      .trim()
      .max(100)
      .refine((zone) => zone === '' || isTimezone(zone), TIMEZONE_FORM),
  ),
  knowledge: maybe(z.int()).describe('Kept; nothing reads it yet.'),
  LTM_DB: z.unknown().optional().describe('Ignored.'),
  exit: z.unknown().optional().describe('Ignored.'),
  iteration_interval: z.unknown().optional().describe('Ignored.'),
};

export const newAgentBody = z.object({ ...fields, ...always }).meta({ id: 'SuperAgiAgent' });

export const agentChangesBody = z
  .object({
    name: maybe(fields.name),
    description: maybe(fields.description),
    goal: maybe(fields.goal),
    instruction: maybe(fields.instruction),
    agent_workflow: maybe(fields.agent_workflow),
    constraints: maybe(fields.constraints),
    tools: maybe(fields.tools),
    model: maybe(fields.model),
    max_iterations: maybe(fields.max_iterations),
    ...always,
  })
  .meta({ id: 'SuperAgiAgentChanges' });
export type GivenAgent = z.output<typeof agentChangesBody>;

export const runBody = z.object({
  name: maybe(z.string().max(200)),
  goal: maybe(texts).describe("In place of the agent's own."),
  instruction: maybe(texts).describe("In place of the agent's own."),
});

const runIds = z.array(z.int().min(1)).max(1_000);

export const runFilterBody = z.object({ run_ids: maybe(runIds), run_status_filter: maybe(z.string().max(100)) });
export const runIdsBody = z.object({ run_ids: maybe(runIds) });
export const outputBody = z.object({ run_ids: runIds });
