/** The API with its real services over ports in memory, and two organisations that have something of everything. */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { makeApi } from '../../../lib/http/api.ts';
import type { ApiDeps } from '../../../lib/http/deps.ts';
import { makeExecutionService } from '../../../lib/http/executions/service.ts';
import type { Item } from '../../../lib/kernel/table.ts';
import type { ModelClient } from '../../../lib/model/model.ts';
import { ProviderError } from '../../../lib/router/channel.ts';
import { makeAuthenticator } from '../../../lib/tenancy/authenticate.ts';
import { bootstrap } from '../../../lib/tenancy/bootstrap.ts';
import { toolSpec } from '../../../lib/tools/spec.ts';
import { allTools } from '../../../lib/tools/toolkit.ts';
import { makeTicketDeps } from '../../router/support/ticket-deps.ts';
import { makeMemoryQueue } from '../../support/memory-queue.ts';
import { makeEngine } from './engine.ts';

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly query?: string | undefined;
  readonly headers?: { readonly [name: string]: string } | undefined;
  readonly body?: string | undefined;
  readonly base64?: boolean | undefined;
}

export interface Answered {
  readonly status: number;
  readonly type: string;
  readonly headers: { readonly [name: string]: string };
  readonly text: string;
  readonly json: { readonly [member: string]: unknown } | undefined;
}

const calls = (...list: readonly (readonly [string, object])[]): ModelClient => ({
  complete: async () => ({
    kind: 'reply',
    content: 'words',
    toolCalls: list.map(([name, args], n) => ({ id: `c${n}`, name, arguments: JSON.stringify(args) })),
    finishReason: 'tool_calls',
    refused: false,
    usage: { input: 10, output: 5, cached: 0 },
  }),
});

export const makeWorld = async () => {
  const engine = makeEngine();
  const { table, secrets, ids } = engine;
  // A long poll sleeps: time passes at once.
  const clock = {
    now: engine.now,
    sleep: async (ms: number) => {
      engine.pass(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  const errors: unknown[] = [];
  const log: ApiDeps['log'] = {
    debug() {},
    info() {},
    warn() {},
    append() {},
    error: (_, fields) => void errors.push(fields?.error),
  };
  const deps: ApiDeps = {
    table,
    secrets,
    models: { complete: async () => ({ kind: 'aborted', billed: false }) },
    clock,
    ids,
    log,
    fires: makeMemoryQueue(),
    webhooks: { webhooks: makeMemoryQueue(), judgeUrl: () => undefined },
    authenticator: makeAuthenticator({ table, clock }),
    executions: makeExecutionService({
      ...engine.executionDeps(),
      clock,
      log,
      modelConfigured: async () => true,
    }),
    tools: allTools.map((tool) => ({ ...toolSpec(tool), effect: 'depends' })),
    workflows: ['goal'],
    names: () => true,
    tickets: makeTicketDeps({ table, clock, ids, log }),
    provider: async () => {
      throw new ProviderError('down', 'Nobody answers.');
    },
    postings: makeMemoryQueue(),
  };
  const api = makeApi(deps);
  const context = { awsRequestId: 'request', getRemainingTimeInMillis: () => 29_000 } as unknown as Context;

  const send = async ({ method, path, query = '', headers = {}, body, base64 = false }: Sent): Promise<Answered> => {
    const event = {
      version: '2.0',
      routeKey: '$default',
      rawPath: path,
      rawQueryString: query,
      headers,
      requestContext: { http: { method, path }, requestId: 'request' },
      ...(body === undefined ? {} : { body }),
      isBase64Encoded: base64,
    } as unknown as APIGatewayProxyEventV2;
    const result = (await api(event, context)) as APIGatewayProxyStructuredResultV2;
    const answered = (result.headers ?? {}) as { readonly [name: string]: string };
    const text = Buffer.from(result.body ?? '', result.isBase64Encoded ? 'base64' : 'utf8').toString('utf8');
    const type = answered['content-type'] ?? '';
    const isJson = /json/.test(type) && !result.isBase64Encoded && text !== '';
    return {
      status: result.statusCode ?? 0,
      type,
      headers: answered,
      text,
      json: isJson ? JSON.parse(text) : undefined,
    };
  };

  const a = await bootstrap(deps, { organisation: 'A' });
  const b = await bootstrap(deps, { organisation: 'B' });

  const ask = async (key: string, method: string, path: string, body?: object): Promise<Answered> => {
    const answer = await send({
      method,
      path,
      headers: { authorization: `Bearer ${key}` },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer;
  };
  const made = async (key: string, path: string, body: object): Promise<string> =>
    String((await ask(key, 'POST', path, body)).json?.id);

  /** Executions of each kind: done, at rest in all the ways there are, and one that runs. */
  const furnish = async ({ organisationId: orgId, apiKey }: typeof a) => {
    const agentId = await made(apiKey, '/v1/agents', { name: 'agent', config: { goals: ['g'], custom: { a: [1] } } });
    const spare = await made(apiKey, '/v1/agents', { name: 'spare' });
    const projectId = await made(apiKey, '/v1/projects', { name: 'project', description: 'd' });
    const keyId = await made(apiKey, '/v1/keys', { name: 'key', scopes: ['read'] });
    await ask(apiKey, 'PUT', '/v1/providers/mine', {
      baseUrl: 'https://models.example/v1',
      apiKey: 'sk-x',
      models: [{ name: 'm', inputUsdPerM: 1, outputUsdPerM: 2, contextTokens: 1_000 }],
      default: true,
    });
    const start = (config: object) => made(apiKey, `/v1/agents/${agentId}/executions`, { name: 'run', config });
    const completed = await start({});
    await engine.deliver(calls(['write_file', { path: 'report.md', content: '# ü' }], ['think', { thought: 't' }]));
    await engine.drain();
    const permission = await start({ permissionType: 'RESTRICTED' });
    await engine.drain(calls(['write_file', { path: 'a', content: 'b' }]));
    const question = await start({});
    await engine.drain(calls(['ask_user', { question: 'Which?' }]));
    const limited = await start({ maxIterations: 1 });
    await engine.drain(calls(['think', { thought: 'on' }]));
    const paused = await start({});
    await ask(apiKey, 'POST', `/v1/executions/${paused}/pause`);
    await ask(apiKey, 'POST', `/v1/executions/${paused}/input`, { content: 'a word' });
    await engine.drain();
    const running = await start({});
    engine.steps.take();
    engine.pending.splice(0);
    const permissionId = String(
      ((await ask(apiKey, 'GET', '/v1/permissions')).json?.items as { id: string }[] | undefined)?.[0]?.id,
    );
    const executions = [completed, permission, question, limited, paused, running];
    return { orgId, apiKey, agentId, spare, projectId, keyId, permissionId, executions };
  };

  return { engine, deps, send, ask, errors, a: await furnish(a), b: await furnish(b), table };
};

export type World = Awaited<ReturnType<typeof makeWorld>>;

/** All that lasts, so that a refusal can be seen to leave nothing behind but the record that somebody asked. */
export const traces = ({ table, engine }: World) => ({
  // Whole numbers are given to whatever is asked for, and one that was reserved and not needed is a gap.
  rows: table.dump().filter(({ pk }) => !/#(AUDIT|NUMBER)$/.test(pk)),
  sent: engine.steps.sent.length,
  effects: engine.effects.sent.length,
  blobs: engine.blobs.keys().length,
});

const withoutUse = ({ lastUsedAt: _, ...item }: Item): string => JSON.stringify(item);

/** What differs, but for when a key was last used. */
export const differences = (before: ReturnType<typeof traces>, after: ReturnType<typeof traces>): string[] => {
  const found: string[] = [];
  if (before.sent !== after.sent) found.push('a step message was sent');
  if (before.effects !== after.effects) found.push('an effect was woken');
  if (before.blobs !== after.blobs) found.push('an object was written');
  if (before.rows.length !== after.rows.length) found.push(`${after.rows.length - before.rows.length} rows more`);
  for (const [at, row] of after.rows.entries()) {
    const old = before.rows[at];
    if (old === undefined || old === row || withoutUse(old) === withoutUse(row)) continue;
    found.push(`${row.pk} ${row.sk}`);
    break;
  }
  return found;
};
