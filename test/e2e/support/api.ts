import { setTimeout as sleep } from 'node:timers/promises';

/** What answers hold. Which of it is there depends on the route; a test that looks at a member asserts that it is. */
export interface Json {
  readonly id: string;
  readonly agentId: string;
  readonly executionId: string;
  readonly executionIds: readonly string[];
  readonly name: string;
  readonly status: string;
  readonly code: string;
  readonly detail: string;
  readonly reason?: string;
  readonly seq: number;
  readonly calls: number;
  readonly costUsd: number;
  readonly result: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly now?: {
    readonly state: string;
    readonly waitingOn?: { readonly kind: string };
    readonly attempt?: { readonly lastError?: string; readonly nextAt?: string };
  };
  readonly phase: string;
  readonly finishReason: string;
  readonly toolCalls: readonly { readonly name: string; readonly outcome: string }[];
  readonly tool: string;
  readonly path: string;
  readonly apiKey: string;
  readonly stopped?: { readonly at: string };
  readonly items: readonly Json[];
  readonly nextCursor: string;
}

export interface Answer {
  readonly status: number;
  /** `undefined` when the body is no JSON. */
  readonly json: Json;
  readonly text: string;
  readonly headers: Headers;
}

export interface CallOptions {
  /** `null`: without a key. */
  readonly key?: string | null;
  readonly headers?: { readonly [name: string]: string };
}

export interface FeedRow {
  readonly seq: number;
  readonly n: number;
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly toolCallId?: string;
}

export interface Api {
  url(): string;
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** @throws Error when the status is not a good one */
  must(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Json>;
  /** An agent with this configuration; its `model` picks the script. */
  agent(config: { readonly [key: string]: unknown }): Promise<Json>;
  /** An agent and a run of it. */
  run(config: { readonly [key: string]: unknown }): Promise<Json>;
  /** Polls until the execution has one of these states. @throws Error naming where it stands when it takes too long */
  until(id: string, states: string | readonly string[], seconds?: number): Promise<Json>;
  feed(id: string): Promise<readonly FeedRow[]>;
  steps(id: string): Promise<readonly Json[]>;
}

export const makeApi = (url: () => string, ownerKey: string): Api => {
  const call: Api['call'] = async (method, path, body, { key = ownerKey, headers = {} } = {}) => {
    const response = await fetch(url() + path, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: parsed(text), text, headers: response.headers };
  };
  const must: Api['must'] = async (method, path, body, options) => {
    const answer = await call(method, path, body, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
    return answer.json;
  };
  const agent: Api['agent'] = (config) =>
    must('POST', '/v1/agents', { name: 'tester', config: { goals: ['Do as the script says.'], ...config } });
  const all = async (path: string, cursor: string): Promise<Json[]> => {
    const items: Json[] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      const page: Json = await must('GET', `${path}?limit=100${next && `&${cursor}=${encodeURIComponent(next)}`}`);
      items.push(...page.items);
      next = page.items.length === 0 ? undefined : page.nextCursor;
    }
    return items;
  };
  return {
    url,
    call,
    must,
    agent,
    async run(config) {
      const { id } = await agent(config);
      return must('POST', `/v1/agents/${id}/executions`, {});
    },
    async until(id, states, seconds = 60) {
      const wanted = [states].flat();
      const end = performance.now() + seconds * 1000;
      for (;;) {
        const answer = await call('GET', `/v1/executions/${id}`);
        // API Gateway gives up on a function after 29 s: a busy machine is asked again, as any client would.
        const isBusy = answer.status === 503;
        if (answer.status >= 300 && !isBusy) throw new Error(`GET ${id}: ${answer.status} ${answer.text}`);
        const execution = answer.json;
        if (!isBusy && wanted.includes(execution.status)) return execution;
        if (performance.now() > end) {
          throw new Error(`Not ${wanted.join(' or ')} after ${seconds} s: ${JSON.stringify(execution)}`);
        }
        await sleep(50);
      }
    },
    feed: async (id) => (await all(`/v1/executions/${id}/feed`, 'after')) as unknown as FeedRow[],
    steps: (id) => all(`/v1/executions/${id}/steps`, 'cursor'),
  };
};

const parsed = (text: string): Json => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined as unknown as Json; // a member of it is then asked for in vain, and the test says where
  }
};

/** Polls until the condition holds. @throws Error with the given words when it takes too long */
export const eventually = async (
  what: string,
  holds: () => boolean | Promise<boolean>,
  seconds = 20,
): Promise<void> => {
  const end = performance.now() + seconds * 1000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`Not within ${seconds} s: ${what}`);
    await sleep(25);
  }
};
