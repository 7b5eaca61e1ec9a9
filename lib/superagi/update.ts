import { patchAgent } from '../agent/change-agent.ts';
import { chooseWorkflow } from '../agent/choose-workflow.ts';
import type { Available } from '../agent/create-agent.ts';
import { configOf, timezoneOf } from './agent-config.ts';
import type { AgentDeps } from './create.ts';
import { agentNamed, projectNumbered } from './find.ts';
import { numberOf } from './integer-ids.ts';
import { workflowNamed } from './names.ts';
import { draftFor, setSchedule } from './schedule.ts';
import type { GivenAgent } from './wire.ts';

export interface UpdateAgent {
  readonly orgId: string;
  /** Id of the key. */
  readonly actor: string;
  /** Its number, or its id. */
  readonly agent: string;
  readonly body: GivenAgent;
}

/**
 * Replaces what is given, key by key; the rest stays, and runs keep what they started with. All of it is checked before
 * anything is written. A repeat changes nothing more, so that whoever got no answer sends it again.
 * @returns the agent's number
 * @throws AppError 404 for the agent, a tool or the project; 400 naming the field
 */
export const updateNumberedAgent = async (
  deps: AgentDeps,
  available: Available,
  { orgId, actor, agent: named, body }: UpdateAgent,
): Promise<number> => {
  const now = deps.clock.now();
  const agent = await agentNamed(deps.table, orgId, named);
  const agentId = agent.id;
  const config = configOf(body, available.tools);
  const timezone = timezoneOf(body, agent.config);
  const workflow =
    body.agent_workflow == null
      ? undefined
      : await chooseWorkflow(available, orgId, workflowNamed(body.agent_workflow));
  const projectId = body.project_id == null ? undefined : await projectNumbered(deps.table, orgId, body.project_id);
  if (body.schedule) await draftFor(deps, { orgId, agentId, actor }, body.schedule, timezone, now);

  const changes = {
    name: body.name ?? undefined,
    description: body.description ?? undefined,
    projectId,
    workflow,
    config,
  };
  await patchAgent(deps.table, available.tools, { orgId, agentId }, changes, now);
  if (body.schedule) await setSchedule(deps, { orgId, agentId, actor }, body.schedule, timezone);
  return numberOf(deps.table, orgId, 'agt', agentId);
};
