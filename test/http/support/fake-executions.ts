import { agentStands } from '../../../lib/agent/agent.ts';
import type { ExecutionAt, ExecutionService } from '../../../lib/http/execution-service.ts';
import type { ExecutionView, FeedRowView, PermissionView } from '../../../lib/http/execution-views.ts';
import { conflict, notFound } from '../../../lib/kernel/errors.ts';
import { type Ids, makeIds } from '../../../lib/kernel/ids.ts';
import { type Table, TransactionRefused, type Write } from '../../../lib/kernel/table.ts';

interface Kept {
  readonly orgId: string;
  view: ExecutionView;
  readonly feed: FeedRowView[];
  readonly files: Map<string, Uint8Array>;
}

/** Stands in for the step engine: keeps executions in memory, of each organisation its own. */
export interface FakeExecutions extends ExecutionService {
  readonly calls: string[];
  at(executionId: string): Kept;
  ask(executionId: string): PermissionView;
}

const TIME = '2026-01-01T00:00:00.000Z';

export const makeFakeExecutions = (table: Table, ids: Ids = makeIds()): FakeExecutions => {
  const kept = new Map<string, Kept>();
  const asks = new Map<string, { orgId: string; view: PermissionView }>();
  const calls: string[] = [];

  const find = ({ orgId, executionId }: ExecutionAt): Kept => {
    const found = kept.get(executionId);
    if (found === undefined || found.orgId !== orgId) throw notFound('execution');
    return found;
  };
  const move = (at: ExecutionAt, status: ExecutionView['status']): ExecutionView => {
    const found = find(at);
    if (found.view.status === status || found.view.status === 'TERMINATED') {
      throw conflict('illegal_transition', `The execution is ${found.view.status}, not to be made ${status}.`);
    }
    found.view = { ...found.view, status };
    return found.view;
  };
  const write = async (orgId: string, agentId: string, more: readonly Write[]): Promise<void> => {
    try {
      await table.transact([agentStands(orgId, agentId), ...more]);
    } catch (error) {
      if (error instanceof TransactionRefused && error.refused[0] === true) throw notFound('agent');
      throw error;
    }
  };

  return {
    calls,
    at: (executionId) => {
      const found = kept.get(executionId);
      if (found === undefined) throw new Error(`no ${executionId}`);
      return found;
    },
    ask(executionId) {
      const { orgId } = this.at(executionId);
      const view: PermissionView = {
        id: `${ids.next('ask', Date.now())}_1_101`,
        executionId,
        status: 'pending',
        tool: 'http_request',
        arguments: { url: 'https://example.org' },
        why: 'to look',
        argumentsHash: 'abc',
        createdAt: TIME,
      };
      asks.set(view.id, { orgId, view });
      return view;
    },
    async start({ orgId, agentId, name, config, alongside }) {
      calls.push(`start ${JSON.stringify(config)}`);
      const view: ExecutionView = {
        id: ids.next('exe', Date.now()),
        agentId,
        name: name ?? 'run',
        status: 'RUNNING',
        currentStepId: 'think',
        seq: 1,
        calls: 0,
        tokens: { input: 0, output: 0, total: 0 },
        costUsd: 0,
        limits: { maxIterations: 25, maxCostUsd: 5, maxSeconds: 86_400 },
        createdAt: TIME,
        updatedAt: TIME,
      };
      await write(orgId, agentId, alongside(view));
      kept.set(view.id, { orgId, view, feed: [], files: new Map() });
      return view;
    },
    get: async (at) => find(at).view,
    list: async (orgId, { agentId, status }, { limit }) => ({
      items: [...kept.values()]
        .filter((one) => one.orgId === orgId)
        .map(({ view }) => view)
        .filter(
          (view) =>
            (agentId === undefined || view.agentId === agentId) && (status === undefined || view.status === status),
        )
        .slice(0, limit),
    }),
    patchLimits: async (at, limits) => {
      const found = find(at);
      found.view = { ...found.view, limits: { ...found.view.limits, ...limits } as ExecutionView['limits'] };
      return found.view;
    },
    pause: async (at) => move(at, 'PAUSED'),
    resume: async (at) => move(at, 'RUNNING'),
    terminate: async (at) => move(at, 'TERMINATED'),
    terminateAll: async (orgId, agentId) => {
      calls.push(`terminateAll ${agentId}`);
      for (const one of kept.values()) {
        if (one.orgId === orgId && one.view.agentId === agentId) one.view = { ...one.view, status: 'TERMINATED' };
      }
    },
    wakeOrganisation: async (orgId) => void calls.push(`wake ${orgId}`),
    feed: async (at, { after, limit }) => {
      const { feed, view } = find(at);
      const behind = feed.filter(
        ({ seq, n }) => after === undefined || seq > after.seq || (seq === after.seq && n > after.n),
      );
      return { items: behind.slice(0, limit), ended: view.status === 'TERMINATED' };
    },
    steps: async (at) => {
      find(at);
      return { items: [] };
    },
    input: async ({ orgId, executionId, content, alongside }) => {
      const found = find({ orgId, executionId });
      await write(orgId, found.view.agentId, alongside(found.view));
      calls.push(`input ${content}`);
      return found.view;
    },
    listFiles: async (at) => ({
      items: [...find(at).files].map(([path, bytes]) => ({ path, bytes: bytes.byteLength, updatedAt: TIME })),
    }),
    readFile: async (at, path) => find(at).files.get(path),
    listPermissions: async (orgId, { status, executionId }) => ({
      items: [...asks.values()]
        .filter((ask) => ask.orgId === orgId && (status === undefined || ask.view.status === status))
        .map(({ view }) => view)
        .filter((view) => executionId === undefined || view.executionId === executionId),
    }),
    getPermission: async (orgId, permissionId) => {
      const ask = asks.get(permissionId);
      if (ask === undefined || ask.orgId !== orgId) throw notFound('permission');
      return ask.view;
    },
    decide: async ({ orgId, permissionId, decision, argumentsHash }) => {
      const ask = asks.get(permissionId);
      if (ask === undefined || ask.orgId !== orgId) throw notFound('permission');
      if (argumentsHash !== undefined && argumentsHash !== ask.view.argumentsHash) {
        throw conflict('arguments_differ', 'It is for another call.');
      }
      if (ask.view.status !== 'pending') throw conflict('already_decided', 'It is decided already.');
      ask.view = { ...ask.view, status: decision === 'approve' ? 'approved' : 'rejected' };
      return ask.view;
    },
    status: async () => ({ code: 0, checks: [{ name: 'chains', code: 0, detail: 'none stalled' }] }),
  };
};
