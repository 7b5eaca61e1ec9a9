import * as z from 'zod';
import { type Delivery, VERDICTS } from '../../router/ingest/delivery.ts';
import { listSourceDeliveries } from '../../router/ingest/list.ts';
import { wakeHeldOf } from '../../router/outbox/manage.ts';
import { createSource, deleteSource, patchSource } from '../../router/source/change-source.ts';
import { getSource, listSources } from '../../router/source/find.ts';
import { SOURCE_KINDS, type Source } from '../../router/source/source.ts';
import { testSource } from '../../router/source/test-source.ts';
import { type Call, defineRoute, type Route } from '../define-route.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';
import { name, time } from './fields.ts';

const text = z.string().min(1).max(200);
const secret = z.string().min(8).max(500);
const secrets = z.array(secret).min(1).max(5);
const url = z.string().min(1).max(2_000);
const self = z.strictObject({ id: text, login: text, appId: text.optional() });
const repositories = z
  .array(z.strictObject({ id: text, fullName: text }))
  .min(1)
  .max(200)
  .describe('Events of others are dropped. Missing: every repository that the installation shows.');

const github = {
  webhookSecrets: secrets.describe('Each of them counts: to rotate, send the new and the old one, later the new one.'),
  appId: text.optional(),
  privateKey: z.string().min(1).max(4_000).optional().describe('PEM, of a GitHub App.'),
  installationId: text.optional(),
  token: z.string().min(1).max(500).optional().describe('Instead of an app; it cannot be made narrower.'),
  self: self.describe('Who we are there; `id` is the number of the account, as text.'),
  repositories: repositories.optional(),
  apiBaseUrl: url.optional().describe('Of another server than api.github.com.'),
};
const http = {
  secrets: secrets.describe('They sign what comes: `X-Baton-Signature: sha256=<hex HMAC of the raw body>`.'),
  replyUrl: url.optional().describe('Where replies are posted. Without it nothing is answered.'),
};

const newSource = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('github'), name, ...github }),
  z.strictObject({ kind: z.literal('http'), name, ...http }),
]);
const patch = z
  .strictObject({ name, ...github, ...http, state: z.enum(['active', 'paused']) })
  .partial()
  .describe('A change of credentials or secrets replaces them; none is ever shown.');

const sourceView = z
  .object({
    id: z.string(),
    kind: z.enum(SOURCE_KINDS),
    name: z.string(),
    state: z.enum(['active', 'paused', 'suspended', 'gone']),
    reason: z.string().optional(),
    self: z.object({ id: z.string(), login: z.string().optional(), appId: z.string().optional() }).optional(),
    repositories: z.array(z.object({ id: z.string(), fullName: z.string() })).optional(),
    installationId: z.string().optional(),
    appId: z.string().optional(),
    signsInBy: z.enum(['app', 'token', 'none']),
    apiBaseUrl: z.string().optional(),
    replyUrl: z.string().optional(),
    ingestUrl: z.string().describe('Where the provider is to send its events.'),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Source' });

const sourceTest = z
  .object({
    ok: z.boolean(),
    asked: z.boolean().describe('Whether there was anybody to ask: not without credentials.'),
    login: z.string().optional().describe('Who the credentials say we are.'),
    problem: z.object({ code: z.string(), message: z.string() }).optional(),
    refused: z.number().describe('Deliveries of the last 24 hours that came without a good signature.'),
  })
  .meta({ id: 'SourceTest' });

const deliveryView = z
  .object({
    id: z.string(),
    providerId: z.string().describe("The provider's own id of it."),
    event: z.string(),
    action: z.string().optional(),
    verdict: z.enum(VERDICTS),
    reason: z.object({ code: z.string(), message: z.string() }).optional(),
    bytes: z.number(),
    triggerIds: z.array(z.string()),
    threadIds: z.array(z.string()),
    receivedAt: time,
    handledAt: time.optional(),
  })
  .meta({ id: 'SourceDelivery' });

const iso = (ms: number): string => new Date(ms).toISOString();

const sourceJson = (source: Source, origin: string): z.input<typeof sourceView> => ({
  ...source,
  ingestUrl: `${origin}/ingest/${source.id}`,
});

const deliveryJson = ({ receivedAt, handledAt, ...delivery }: Delivery): z.input<typeof deliveryView> => ({
  ...delivery,
  receivedAt: iso(receivedAt),
  ...(handledAt !== undefined && { handledAt: iso(handledAt) }),
});

const sourceDeps = ({ deps }: Pick<Call<unknown, unknown, unknown>, 'deps'>) => ({
  ...deps,
  judgeUrl: deps.webhooks.judgeUrl,
});

const common = { tag: 'Router', scope: 'admin' } as const;

export const sourceRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    method: 'POST',
    path: '/v1/sources',
    operationId: 'createSource',
    summary: 'Have events of a provider come in. What is secret can be written, never read.',
    body: newSource,
    responses: { 201: sourceView },
    idempotent: true,
    handler: async (call) => {
      const { principal, body, now, record, origin } = call;
      const shown = (source: Source) => sourceJson(source, origin);
      const made = await createSource(sourceDeps(call), principal.orgId, body, principal.keyId, now, (source) =>
        record(shown(source)),
      );
      return { body: shown(made) };
    },
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/v1/sources',
    operationId: 'listSources',
    summary: 'List sources, newest first.',
    query: z.strictObject(pageQuery),
    responses: { 200: listOf(sourceView) },
    handler: async ({ deps, principal, page, origin }) => {
      const at = page('sources');
      const { items, ...rest } = await listSources(deps, principal.orgId, at);
      return { body: listBody(at, { items: items.map((source) => sourceJson(source, origin)), ...rest }) };
    },
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/v1/sources/{sourceId}',
    operationId: 'getSource',
    summary: 'Get a source.',
    responses: { 200: sourceView },
    problems: [404],
    handler: async ({ deps, principal, params, origin }) => ({
      body: sourceJson(await getSource(deps.table, principal.orgId, params.sourceId), origin),
    }),
  }),
  defineRoute({
    ...common,
    method: 'PATCH',
    path: '/v1/sources/{sourceId}',
    operationId: 'patchSource',
    summary: 'Change a source, pause it, or take up one that its provider had stopped.',
    body: patch,
    responses: { 200: sourceView },
    problems: [404, 409],
    handler: async (call) => {
      const { principal, params, body, now, origin } = call;
      const next = await patchSource(sourceDeps(call), principal.orgId, params.sourceId, body, now);
      if (body.state === 'active') await wakeHeldOf(call.deps, principal.orgId, next.id);
      return { body: sourceJson(next, origin) };
    },
  }),
  defineRoute({
    ...common,
    method: 'DELETE',
    path: '/v1/sources/{sourceId}',
    operationId: 'deleteSource',
    summary: 'Delete a source and its secrets. What came through it stays on record.',
    responses: { 204: null },
    problems: [404],
    handler: async (call) => {
      await deleteSource(sourceDeps(call), call.principal.orgId, call.params.sourceId);
      return {};
    },
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/v1/sources/{sourceId}/test',
    operationId: 'testSource',
    summary: 'Ask the provider whether the credentials work. Nothing is changed.',
    responses: { 200: sourceTest },
    problems: [404],
    handler: async ({ deps, principal, params, now }) => ({
      body: await testSource(deps, principal.orgId, params.sourceId, now),
    }),
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/v1/sources/{sourceId}/deliveries',
    operationId: 'listSourceDeliveries',
    summary: 'List what the provider sent in the last 30 days, newest first, with what became of it and why.',
    query: z.strictObject({ ...pageQuery, verdict: z.enum(VERDICTS).optional() }),
    responses: { 200: listOf(deliveryView) },
    problems: [404],
    handler: async ({ deps, principal, params: { sourceId }, query, page }) => {
      const at = page(`sources/${sourceId}/deliveries?verdict=${query.verdict ?? ''}`);
      const { items, ...rest } = await listSourceDeliveries(deps, principal.orgId, sourceId, query.verdict, at);
      return { body: listBody(at, { items: items.map(deliveryJson), ...rest }) };
    },
  }),
];
