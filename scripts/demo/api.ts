/** The part of the public HTTP API that the demo uses. Nothing here knows that the cloud is a local one. */
import * as z from 'zod';

const agent = z.object({ id: z.string() });

const execution = z.object({
  id: z.string(),
  status: z.string(),
  seq: z.number(),
  calls: z.number(),
  tokens: z.object({ input: z.number(), output: z.number(), total: z.number() }),
  costUsd: z.number(),
  priceUnknown: z.boolean().optional(),
  result: z.string().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  now: z.object({ state: z.string(), sentence: z.string() }).optional(),
});
export type Execution = z.output<typeof execution>;

const feedRow = z.object({
  seq: z.number(),
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string(),
  toolCalls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })).optional(),
  toolCallId: z.string().optional(),
});
export type FeedRow = z.output<typeof feedRow>;

const feed = z.object({ items: z.array(feedRow), nextCursor: z.string() });
const fileList = z.object({ items: z.array(z.object({ path: z.string() })) });

export interface Api {
  createAgent(body: object): Promise<{ readonly id: string }>;
  startExecution(agentId: string): Promise<Execution>;
  execution(id: string): Promise<Execution>;
  /** Waits up to `waitSeconds` for a row. */
  feed(id: string, after: string | undefined, waitSeconds: number): Promise<z.output<typeof feed>>;
  /** Every file of the run with its text. */
  files(id: string): Promise<ReadonlyMap<string, string>>;
}

/** @param signal ends requests under way */
export const makeApi = (url: string, key: string, signal: AbortSignal): Api => {
  const call = async (method: string, path: string, body?: object): Promise<Response> => {
    const response = await fetch(`${url}${path}`, {
      method,
      signal,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return response;
  };
  const json = async <T extends z.ZodType>(schema: T, method: string, path: string, body?: object) =>
    schema.parse(await (await call(method, path, body)).json());
  return {
    createAgent: (body) => json(agent, 'POST', '/v1/agents', body),
    startExecution: (agentId) => json(execution, 'POST', `/v1/agents/${agentId}/executions`, {}),
    execution: (id) => json(execution, 'GET', `/v1/executions/${id}`),
    feed: (id, after, waitSeconds) => {
      const query = new URLSearchParams({ wait: String(waitSeconds), limit: '100', ...(after && { after }) });
      return json(feed, 'GET', `/v1/executions/${id}/feed?${query}`);
    },
    files: async (id) => {
      const { items } = await json(fileList, 'GET', `/v1/executions/${id}/files?limit=1000`);
      const texts = items.map(async ({ path }) => {
        const place = path.split('/').map(encodeURIComponent).join('/');
        return [path, await (await call('GET', `/v1/executions/${id}/files/${place}`)).text()] as const;
      });
      return new Map(await Promise.all(texts));
    },
  };
};
