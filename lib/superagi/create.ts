import type { AgentWithConfig } from '../agent/agent.ts';
import { chooseWorkflow } from '../agent/choose-workflow.ts';
import { type Available, createAgent } from '../agent/create-agent.ts';
import type { Ids } from '../kernel/ids.ts';
import { missing } from '../kernel/table.ts';
import { announce, type ScheduleDeps } from '../schedule/announce.ts';
import { type Schedule, scheduleItem } from '../schedule/schedule.ts';
import type { Alongside } from '../tenancy/alongside.ts';
import { configOf, timezoneOf } from './agent-config.ts';
import { projectNumbered } from './find.ts';
import { numberWrites, reserveNumbers } from './integer-ids.ts';
import { workflowNamed } from './names.ts';
import { draftFor, pointerWrite } from './schedule.ts';
import type { GivenAgent } from './wire.ts';

export type AgentDeps = ScheduleDeps & { readonly ids: Ids };

/** An agent as a body gives it whole. */
export type NewAgent = GivenAgent & { readonly name: string; readonly agent_workflow: string };

export interface CreateAgent {
  readonly orgId: string;
  /** Id of the key that creates it. */
  readonly actor: string;
  readonly body: NewAgent;
  /** Gets the answer. */
  readonly alongside?: Alongside<{ readonly agent_id: number }> | undefined;
}

/**
 * The agent, its number and its schedule, in one transaction: there is none of them without the others.
 * @returns its number
 * @throws AppError 404 for a tool or the project; 400 naming the field
 */
export const createNumberedAgent = async (
  deps: AgentDeps,
  available: Available,
  { orgId, actor, body, alongside }: CreateAgent,
): Promise<number> => {
  const now = deps.clock.now();
  const config = configOf(body, available.tools);
  const draft = body.schedule
    ? await draftFor(deps, { orgId, agentId: '', actor }, body.schedule, timezoneOf(body), now)
    : undefined;
  const projectId = body.project_id == null ? undefined : await projectNumbered(deps.table, orgId, body.project_id);
  // Checked before a number is taken: a refused request should leave no gap.
  const workflow = await chooseWorkflow(available, orgId, workflowNamed(body.agent_workflow));
  const number = await reserveNumbers(deps.table, orgId, 'agt', 1);
  let schedule: Schedule | undefined;
  const beside = ({ id }: AgentWithConfig) => {
    schedule = draft && { ...draft, agentId: id };
    return [
      ...numberWrites(orgId, id, number),
      ...(schedule === undefined
        ? []
        : [
            { put: scheduleItem(schedule), if: missing('pk') },
            pointerWrite({ orgId, agentId: id }, schedule.id, missing('pk')),
          ]),
      ...(alongside?.({ agent_id: number }) ?? []),
    ];
  };
  const given = {
    orgId,
    actor,
    name: body.name,
    description: body.description ?? undefined,
    projectId,
    workflow,
    config,
    alongside: beside,
  };
  await createAgent(deps, available, given, now);
  if (schedule !== undefined) await announce(deps, schedule, now);
  return number;
};
