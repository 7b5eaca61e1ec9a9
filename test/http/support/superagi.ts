import { expect } from 'vitest';
import { type CallOptions, type Harness, makeHarness } from './harness.ts';

export const AGENT = {
  name: 'Reporter',
  description: 'Writes reports',
  goal: ['Report'],
  instruction: ['Be short', ''],
  agent_workflow: 'Goal Based Workflow',
  constraints: ['No guesses'],
  tools: [{ name: 'Thinking Toolkit', tools: ['ThinkingTool'] }],
  iteration_interval: 500,
  model: 'gpt-4',
  max_iterations: 7,
};

export const API = '/api/v1/agent';

export const viaKey = (apiKey: string): CallOptions => ({ key: undefined, headers: { 'X-API-Key': apiKey } });

/** SuperAGI's API over a table in memory, called with the key of organisation A. */
export const makeSuperAgi = async () => {
  const h: Harness = await makeHarness();
  const post = (path: string, body: unknown = {}, options: CallOptions = viaKey(h.a.apiKey)) =>
    h.call('POST', `${API}${path}`, body, options);
  const put = (path: string, body: unknown) => h.call('PUT', `${API}${path}`, body, viaKey(h.a.apiKey));
  const created = async (body: object = {}): Promise<number> => {
    const answer = await post('', { ...AGENT, ...body });
    expect(answer.text).toMatch(/^\{"agent_id":\d+\}$/);
    return answer.json.agent_id as number;
  };
  const agentRows = async () =>
    (await h.call('GET', '/v1/agents?limit=100')).json.items as { readonly id: string; readonly name: string }[];
  const newest = async () => (await h.call('GET', `/v1/agents/${(await agentRows())[0]?.id}`)).json;
  const schedules = async () =>
    (await h.call('GET', '/v1/schedules')).json.items as { readonly [member: string]: unknown }[];
  const run = async (agent: number | string, body: object = {}): Promise<number> =>
    (await post(`/${agent}/run`, body)).json.run_id as number;
  const statuses = async (agent: number | string, filter: object = {}) =>
    (await post(`/${agent}/run-status`, filter)).json;
  return { h, post, put, created, agentRows, newest, schedules, run, statuses };
};

export type SuperAgi = Awaited<ReturnType<typeof makeSuperAgi>>;
