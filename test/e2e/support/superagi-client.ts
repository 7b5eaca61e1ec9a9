import { createRequire } from 'node:module';

/** The published client of SuperAGI, as its package gives it; it has no types of its own. */
interface SuperAgiPackage {
  readonly Client: new (options: { readonly apiKey: string; readonly url: string }) => SuperAgiClient;
  readonly AgentConfig: new (fields: object) => object;
  readonly AgentUpdateConfig: new (fields: object) => object;
  readonly AgentSchedule: new (fields: object) => object;
  readonly AgentRun: new (fields: object) => object;
  readonly AgentRunFilter: new (fields: object) => object;
}

export interface SuperAgiClient {
  createAgent(config: object): Promise<{ readonly agentId: number }>;
  updateAgent(agentId: number, config: object): Promise<{ readonly agentId: number }>;
  createAgentRun(agentId: number, run?: object): Promise<{ readonly runId: number }>;
  getAgentRunStatus(
    agentId: number,
    filter?: object,
  ): Promise<readonly { readonly runId: number; readonly status: string }[]>;
  pauseAgent(agentId: number, runIds?: readonly number[]): Promise<{ readonly result: string }>;
  resumeAgent(agentId: number, runIds?: readonly number[]): Promise<{ readonly result: string }>;
  getAgentRunResources(runIds: readonly number[]): Promise<{ readonly [runId: string]: readonly string[] }>;
}

const require = createRequire(import.meta.url);

export const superagi = require('superagi-client') as SuperAgiPackage;

/** What its constructor calls and does not wait for. */
export const { validateApiKey } = require('superagi-client/superagi_client/lib/Auth') as {
  readonly validateApiKey: (url: string, apiKey: string) => Promise<void>;
};
