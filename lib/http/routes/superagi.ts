/** SuperAGI's public API, as its published clients use it. Its bodies are in snake case, its errors `{"detail": …}`. */
import * as z from 'zod';
import { createNumberedAgent } from '../../superagi/create.ts';
import { RUN_STATUSES } from '../../superagi/names.ts';
import { runOutput } from '../../superagi/output.ts';
import { pauseRuns, resumeRuns, runStatuses, startNumberedRun } from '../../superagi/runs.ts';
import { updateNumberedAgent } from '../../superagi/update.ts';
import { agentChangesBody, newAgentBody, outputBody, runBody, runFilterBody, runIdsBody } from '../../superagi/wire.ts';
import { type Call, defineRoute, type Route } from '../define-route.ts';
import { available } from './agents.ts';

const number = z.int().min(1);
const agentAnswer = z.object({ agent_id: number });
const runAnswer = z.object({ run_id: number });
const done = z.object({ result: z.literal('success') });

/** Query parameters mean nothing here and are ignored like other members. */
const shared = { tag: 'SuperAGI', errors: 'detail', query: z.object({}) } as const;

type AgentCall = Call<{ readonly agentNumber: string }, unknown, unknown>;

const ofAgent = ({ principal: { orgId, keyId: actor }, params }: Pick<AgentCall, 'principal' | 'params'>) => ({
  orgId,
  actor,
  agent: params.agentNumber,
});

/** The whole of it under one prefix; operation ids are the prefix's own. */
const agentRoutes = (prefix: '/api/v1/agent' | '/v1/agent'): readonly Route[] => {
  const idOf = (verb: string): string => (prefix === '/api/v1/agent' ? `superagi${verb}` : `superagi${verb}Short`);
  return [
    defineRoute({
      ...shared,
      method: 'POST',
      path: `${prefix}` as '/api/v1/agent',
      operationId: idOf('CreateAgent'),
      summary: 'Make an agent, with a schedule where one is given. Answers its number.',
      scope: 'write',
      body: newAgentBody,
      responses: { 200: agentAnswer },
      problems: [404],
      idempotent: true,
      handler: async ({ deps, principal: { orgId, keyId: actor }, body, record }) => {
        const given = { orgId, actor, body, alongside: record };
        return { body: { agent_id: await createNumberedAgent(deps, available(deps), given) } };
      },
    }),
    defineRoute({
      ...shared,
      method: 'PUT',
      path: `${prefix}/{agentNumber}` as '/api/v1/agent/{agentNumber}',
      operationId: idOf('UpdateAgent'),
      summary: 'Replace what is given of an agent. Runs keep what they started with.',
      scope: 'write',
      body: agentChangesBody,
      responses: { 200: agentAnswer },
      problems: [404],
      handler: async (call) => ({
        body: {
          agent_id: await updateNumberedAgent(call.deps, available(call.deps), { ...ofAgent(call), body: call.body }),
        },
      }),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: `${prefix}/{agentNumber}/run` as '/api/v1/agent/{agentNumber}/run',
      operationId: idOf('RunAgent'),
      summary: 'Start a run. Refused while the schedule of the agent starts them.',
      scope: 'run',
      body: runBody,
      responses: { 200: runAnswer },
      problems: [404, 409],
      idempotent: true,
      handler: async (call) => {
        const given = { ...ofAgent(call), ...call.body, alongside: call.record };
        return { body: { run_id: await startNumberedRun(call.deps, given) } };
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: `${prefix}/{agentNumber}/run-status` as '/api/v1/agent/{agentNumber}/run-status',
      operationId: idOf('RunStatus'),
      summary: 'How the runs of an agent stand, whoever started them: all, or those asked for.',
      scope: 'read',
      body: runFilterBody,
      responses: { 200: z.array(z.object({ run_id: number, status: z.enum(RUN_STATUSES) })) },
      problems: [404],
      handler: async (call) => {
        const { run_ids: runIds, run_status_filter: status } = call.body;
        return { body: await runStatuses(call.deps, { ...ofAgent(call), runIds, status }) };
      },
    }),
    steer(`${prefix}/{agentNumber}/pause`, idOf('PauseRuns'), 'Pause runs of an agent.', pauseRuns),
    steer(`${prefix}/{agentNumber}/resume`, idOf('ResumeRuns'), 'Resume runs of an agent.', resumeRuns),
    defineRoute({
      ...shared,
      method: 'POST',
      path: `${prefix}/resources/output` as '/api/v1/agent/resources/output',
      operationId: idOf('RunOutput'),
      summary: 'Addresses of the files of runs, by run. They take the same key.',
      scope: 'read',
      body: outputBody,
      responses: { 200: z.record(z.string(), z.array(z.string())) },
      problems: [404],
      handler: async ({ deps, principal: { orgId }, body, origin }) => ({
        body: await runOutput(deps, { orgId, runIds: body.run_ids, origin }),
      }),
    }),
  ];
};

const steer = (path: string, operationId: string, summary: string, act: typeof pauseRuns): Route =>
  defineRoute({
    ...shared,
    method: 'POST',
    path: path as '/api/v1/agent/{agentNumber}/pause',
    operationId,
    summary: `${summary} Those named, or all that it fits.`,
    scope: 'run',
    body: runIdsBody,
    responses: { 200: done },
    problems: [404, 409],
    handler: async (call) => {
      await act(call.deps, { ...ofAgent(call), runIds: call.body.run_ids });
      return { body: { result: 'success' } };
    },
  });

export const superagiRoutes: readonly Route[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/api/api-keys/validate',
    operationId: 'superagiValidateKey',
    summary: 'Whether the key is good.',
    scope: 'read',
    responses: { 200: z.object({ success: z.literal(true) }) },
    handler: async () => ({ body: { success: true } }),
  }),
  ...agentRoutes('/api/v1/agent'),
  ...agentRoutes('/v1/agent'),
];
