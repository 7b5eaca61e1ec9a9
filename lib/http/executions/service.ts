import { shapeOf } from '../../agent/field-errors.ts';
import { changeLimits } from '../../execution/change-limits.ts';
import { childRows } from '../../execution/children/list-children.ts';
import { needPerson } from '../../execution/children/needs-person.ts';
import { pauseExecution, resumeExecution, terminateAll, terminateExecution } from '../../execution/control.ts';
import { decidePermission, getPermission } from '../../execution/decide.ts';
import type { Execution } from '../../execution/execution.ts';
import { getExecution } from '../../execution/get.ts';
import { giveInput } from '../../execution/input.ts';
import { listExecutions, listPermissions, readFeed, readSteps, wakeOrganisation } from '../../execution/list.ts';
import type { AskRow } from '../../execution/rows.ts';
import { startExecution } from '../../execution/start.ts';
import { badRequest, conflict, notFound } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { listFiles } from '../../resource/list-files.ts';
import { checkPath } from '../../resource/path.ts';
import { heldSince } from '../../tenancy/organisation.ts';
import type { ExecutionAt, ExecutionService } from '../execution-service.ts';
import type { ExecutionView, PermissionView } from '../execution-views.ts';
import type { ServiceDeps } from './deps.ts';
import { executionJson, iso } from './execution-json.ts';
import { feedRowJson } from './feed-json.ts';
import { organisationStatus } from './status.ts';
import { stepsJson } from './steps-json.ts';

const parsedArguments = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const permissionJson = (ask: AskRow): PermissionView => ({
  id: ask.askId,
  executionId: ask.executionId,
  status: ask.state === 'answered' ? 'approved' : ask.state,
  tool: ask.tool,
  arguments: parsedArguments(ask.arguments),
  why: ask.why,
  argumentsHash: ask.argumentsHash,
  ...(ask.agentId !== undefined && { agentId: ask.agentId }),
  ...(ask.expiresAt !== undefined && { expiresAt: iso(ask.expiresAt) }),
  ...(ask.feedback !== undefined && { feedback: ask.feedback }),
  ...(ask.decidedBy !== undefined && { decidedBy: ask.decidedBy }),
  ...(ask.decidedAt !== undefined && { decidedAt: iso(ask.decidedAt) }),
  createdAt: iso(ask.at),
});

/** The routes' view of executions: use cases below, JSON above. */
export const makeExecutionService = (deps: ServiceDeps): ExecutionService => {
  const { table } = deps;
  const known = (at: ExecutionAt): ExecutionAt => {
    if (!isId('exe', at.executionId)) throw notFound('execution');
    return at;
  };
  const wholeResult = async ({ resultBlob }: Execution): Promise<string | undefined> => {
    const bytes = resultBlob === undefined ? undefined : await deps.blobs.get(resultBlob);
    return bytes && new TextDecoder().decode(bytes);
  };
  const shown = async (execution: Execution): Promise<ExecutionView> => {
    const now = deps.clock.now();
    const below = async () => {
      const rows = await childRows(table, execution);
      return { children: rows?.map((row) => row.executionId), stuck: await needPerson(table, execution, rows, now) };
    };
    const [whole, { children, stuck }, held] = await Promise.all([
      wholeResult(execution),
      below(),
      execution.status === 'RUNNING' ? heldSince(table, execution.orgId) : undefined,
    ]);
    return executionJson(execution, now, { whole, held, children, stuck });
  };
  /** Its turns and its place are its ticket's: what is said to it goes there. */
  const refuseWorker = async (at: ExecutionAt): Promise<void> => {
    const { ticketId } = await getExecution(table, at);
    if (ticketId === undefined) return;
    const message = `The execution works for the ticket ${ticketId}: use POST /v1/tickets/${ticketId}/answer or /retry.`;
    throw conflict('ticket_execution', message, { ticketId });
  };
  return {
    start: async ({ orgId, agentId, name, config, alongside }) =>
      shown(
        await startExecution(deps, {
          orgId,
          agentId,
          executionId: deps.ids.next('exe', deps.clock.now()),
          name,
          config,
          alongside: (execution) => alongside(executionJson(execution, deps.clock.now())),
        }),
      ),
    get: async (at) => shown(await getExecution(table, known(at))),
    list: async (orgId, filter, page) => {
      const { items, ...rest } = await listExecutions(deps, orgId, filter, page);
      return { items: items.map((each) => executionJson(each, deps.clock.now())), ...rest };
    },
    patchLimits: async (at, limits) =>
      shown(
        await changeLimits(deps, known(at), {
          maxIterations: limits.maxIterations,
          maxSteps: limits.maxSteps,
          maxTokens: limits.maxTokens,
          maxCost: limits.maxCostUsd === undefined ? undefined : Math.round(limits.maxCostUsd * 1e6),
          maxSeconds: limits.maxSeconds,
        }),
      ),
    pause: async (at) => shown(await pauseExecution(deps, known(at))),
    resume: async (at) => {
      await refuseWorker(known(at));
      return shown(await resumeExecution(deps, at));
    },
    terminate: async (at) => shown(await terminateExecution(deps, known(at))),
    terminateAll: (orgId, agentId) => terminateAll(deps, orgId, agentId),
    wakeOrganisation: (orgId) => wakeOrganisation(deps, orgId),
    feed: async (at, { after, limit }) => {
      const { rows, ended } = await readFeed(table, known(at), after, limit);
      return { items: rows.map(feedRowJson), ended };
    },
    steps: async (at, page) => {
      const from = Number(page.start ?? '1');
      if (!Number.isSafeInteger(from) || from < 1)
        throw badRequest('The cursor does not belong to this list.', [], 'invalid_cursor');
      const { rows, nextSeq } = await readSteps(table, known(at), from, page.limit);
      return { items: stepsJson(rows), ...(nextSeq !== undefined && { next: String(nextSeq) }) };
    },
    input: async ({ orgId, executionId, content, actor, dedupeKey, alongside }) => {
      await refuseWorker(known({ orgId, executionId }));
      return shown(
        await giveInput(
          deps,
          { orgId, executionId },
          {
            kind: 'message',
            origin: `key ${actor}`,
            trust: 'explicit',
            wake: true,
            text: content,
            dedupeKey,
            alongside: (execution) => alongside(executionJson(execution, deps.clock.now())),
          },
        ),
      );
    },
    listFiles: async (at, page) => {
      await getExecution(table, known(at));
      const cursor = page.start === undefined ? {} : { cursor: page.start };
      const { items, nextCursor } = await listFiles({ table, ...at, limit: page.limit, ...cursor });
      return { items, ...(nextCursor !== undefined && { next: nextCursor }) };
    },
    readFile: async (at, path) => {
      await getExecution(table, known(at));
      const checked = checkPath(path);
      if (!checked.ok)
        throw badRequest(checked.problem, [
          { field: 'path', received: shapeOf(path), expected: 'a relative path, like report.md or data/figures.csv' },
        ]);
      return deps.filesOf(at.orgId, at.executionId).read(checked.path);
    },
    listPermissions: async (orgId, { status, executionId }, page) => {
      if (executionId !== undefined && !isId('exe', executionId)) return { items: [] };
      const { items, ...rest } = await listPermissions(deps, orgId, { state: status, executionId }, page);
      return { items: items.map(permissionJson), ...rest };
    },
    getPermission: async (orgId, permissionId) => permissionJson(await getPermission(deps, orgId, permissionId)),
    decide: async ({ decision, ...given }) =>
      permissionJson(await decidePermission(deps, { ...given, approve: decision === 'approve' })),
    status: (orgId) => organisationStatus(deps, orgId),
  };
};
