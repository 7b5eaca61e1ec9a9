import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { makeApi } from '../../../lib/http/api.ts';
import type { ApiDeps } from '../../../lib/http/deps.ts';
import { makeIds } from '../../../lib/kernel/ids.ts';
import { makeGuardedFetch } from '../../../lib/net/guarded-fetch.ts';
import { makeEndpointJudge } from '../../../lib/net/judge-endpoint.ts';
import { makeModelClient } from '../../../lib/openai/model-client.ts';
import { ProviderError } from '../../../lib/router/channel.ts';
import { handleOf, namesHandle } from '../../../lib/router/gate/mentions.ts';
import type { PostingMessage } from '../../../lib/router/message.ts';
import type { ProviderFor } from '../../../lib/router/outbox/deps.ts';
import type { FireMessage } from '../../../lib/schedule/message.ts';
import { createApiKey } from '../../../lib/tenancy/api-keys.ts';
import { makeAuthenticator } from '../../../lib/tenancy/authenticate.ts';
import { bootstrap } from '../../../lib/tenancy/bootstrap.ts';
import type { Scope } from '../../../lib/tenancy/scope.ts';
import type { WebhookMessage } from '../../../lib/webhook/message.ts';
import { makeTicketDeps } from '../../router/support/ticket-deps.ts';
import { makeFakeClock } from '../../support/fake-clock.ts';
import { makeMemoryQueue } from '../../support/memory-queue.ts';
import { makeMemorySecrets } from '../../support/memory-secrets.ts';
import { makeMemoryTable } from '../../support/memory-table.ts';
import { makeFakeExecutions } from './fake-executions.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');

export interface Response {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly text: string;
  readonly json: JsonAnswer;
}
/** A parsed JSON answer; tests say what they expect of each member. */
export interface JsonAnswer {
  readonly [member: string]: unknown;
}

export interface CallOptions {
  readonly key?: string | undefined;
  readonly headers?: { readonly [name: string]: string };
  readonly base64?: boolean;
  readonly remainingMs?: number;
}

/**
 * The API over a table in memory, with two organisations.
 * @param allow `host:port` of model servers that may be reached although they are private
 */
export const makeHarness = async (allow: readonly string[] = []) => {
  const clock = makeFakeClock(NOW);
  const table = makeMemoryTable(() => clock.now());
  const secrets = makeMemorySecrets();
  const ids = makeIds();
  const errors: unknown[] = [];
  const log: ApiDeps['log'] = {
    debug() {},
    info() {},
    warn() {},
    append() {},
    error: (_, fields) => void errors.push(fields?.error),
  };
  const executions = makeFakeExecutions(table, ids);
  const fires = makeMemoryQueue<FireMessage>();
  const webhooks = makeMemoryQueue<WebhookMessage>();
  const postings = makeMemoryQueue<PostingMessage>();
  let provider: ProviderFor = async () => {
    throw new ProviderError('down', 'Nobody answers.');
  };
  const deps: ApiDeps = {
    table,
    secrets,
    models: makeModelClient({ guarded: makeGuardedFetch({ allow }) }),
    clock,
    ids,
    log,
    executions,
    fires,
    webhooks: { webhooks, judgeUrl: makeEndpointJudge(['127.0.0.1:8080'], []) },
    authenticator: makeAuthenticator({ table, clock }),
    tools: [
      { name: 'think', description: 'Think.', effect: 'none', parameters: { type: 'object' } },
      { name: 'http_request', description: 'Ask a server.', effect: 'depends', parameters: { type: 'object' } },
    ],
    workflows: ['goal'],
    postings,
    names: (text, { self }) => self?.login === undefined || namesHandle(text, handleOf(self.login)),
    provider: (source, needs) => provider(source, needs),
    tickets: makeTicketDeps({ table, clock, ids, log }),
  };
  const api = makeApi(deps);
  const a = await bootstrap(deps, { organisation: 'A' });
  const b = await bootstrap(deps, { organisation: 'B' });

  const call = async (method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Response> => {
    const [rawPath = '/', rawQueryString = ''] = path.split('?');
    const key = 'key' in options ? options.key : a.apiKey;
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const event = {
      version: '2.0',
      routeKey: '$default',
      rawPath,
      rawQueryString,
      headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...options.headers },
      requestContext: { http: { method, path: rawPath }, requestId: 'request' },
      ...(text === undefined ? {} : { body: text }),
      isBase64Encoded: options.base64 ?? false,
    } as unknown as APIGatewayProxyEventV2;
    const context = {
      awsRequestId: 'request',
      getRemainingTimeInMillis: () => options.remainingMs ?? 29_000,
    } as unknown as Context;
    const result = (await api(event, context)) as APIGatewayProxyStructuredResultV2;
    const answer = Buffer.from(result.body ?? '', result.isBase64Encoded ? 'base64' : 'utf8').toString('utf8');
    const headers = (result.headers ?? {}) as { readonly [name: string]: string };
    const isJson = /json/.test(headers['content-type'] ?? '') && !result.isBase64Encoded;
    const json = (isJson && answer !== '' ? JSON.parse(answer) : undefined) as JsonAnswer;
    return { status: result.statusCode ?? 0, headers, text: answer, json };
  };

  const keyWith = async (scope: Scope, orgId = a.organisationId): Promise<string> =>
    (await createApiKey(deps, { orgId, name: scope, scopes: [scope] }, clock.now())).apiKey;

  /** An agent of organisation A. */
  const agent = async (config: object = { goals: ['x'] }): Promise<string> =>
    (await call('POST', '/v1/agents', { name: 'agent', config })).json.id as string;

  /** Providers answer so from now on. */
  const provide = (next: ProviderFor): void => {
    provider = next;
  };

  return {
    postings,
    provide,
    fires,
    webhooks,
    call,
    keyWith,
    agent,
    a,
    b,
    deps,
    table,
    clock,
    secrets,
    executions,
    errors,
  };
};

export type Harness = Awaited<ReturnType<typeof makeHarness>>;
