import * as z from 'zod';
import { checkAccount, checkProvider, demandWorking } from '../../tenancy/check-provider.ts';
import { deleteProvider, listProviders, putProvider } from '../../tenancy/providers.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { time } from './fields.ts';

const usd = z
  .number()
  .min(0)
  .max(100_000)
  // A table holds no number between 0 and 1e-130, and nobody charges less than this.
  .refine((value) => value === 0 || value >= 1e-6, '0 or at least 0.000001')
  .describe('US dollars per million tokens.');
const model = z.strictObject({
  name: z.string().min(1).max(200),
  contextTokens: z.int().min(200).max(100_000_000).optional(),
  inputUsdPerM: usd.optional(),
  outputUsdPerM: usd.optional(),
});

const isHttp = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
const hasNoSecret = (text: string): boolean => {
  if (!URL.canParse(text)) return true; // told by the check before
  const { username, password, hash, search } = new URL(text);
  return `${username}${password}${hash}${search}` === '';
};

const baseUrl = z
  .string()
  .max(2_000)
  .refine(isHttp, 'an http(s) address')
  .refine(hasNoSecret, 'an address without user, password, query or fragment')
  .describe(
    'Of an OpenAI-compatible endpoint. It must be public unless the operator allows it; https keeps the key secret on its way.',
  );

const namesDiffer = (models: readonly { readonly name: string }[]): boolean =>
  new Set(models.map((one) => one.name)).size === models.length;

const providerView = z
  .object({
    name: z.string(),
    baseUrl: z.string(),
    models: z.array(z.object(model.shape)),
    default: z.boolean(),
    hasKey: z.boolean(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Provider' });

const checkView = z
  .object({
    ok: z.boolean(),
    model: z.string(),
    milliseconds: z.number(),
    code: z.string().optional(),
    message: z.string().optional(),
  })
  .meta({ id: 'ProviderCheck' });

export const providerRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/v1/providers',
    operationId: 'listProviders',
    summary: "List the organisation's model accounts. Keys are never shown.",
    tag: 'Providers',
    scope: 'read',
    responses: { 200: z.object({ items: z.array(providerView) }) },
    handler: async ({ deps, principal }) => ({ body: { items: await listProviders(deps.table, principal.orgId) } }),
  }),
  defineRoute({
    method: 'PUT',
    path: '/v1/providers/{name}',
    operationId: 'putProvider',
    summary: 'Set a model account. The key can be written, never read.',
    tag: 'Providers',
    scope: 'admin',
    body: z.strictObject({
      baseUrl,
      apiKey: z
        .string()
        .min(1)
        .max(4_000) // a standard SSM parameter holds 4 KB
        .regex(/^[\x21-\x7e]+$/, 'printable ASCII characters without spaces')
        .optional()
        .describe('Left out: the stored key stays. Needed again when baseUrl names another host.'),
      models: z.array(model).min(1).max(100).refine(namesDiffer, 'each model once'),
      default: z.boolean().optional().describe('Its first model is used where an agent names none.'),
      check: z
        .boolean()
        .optional()
        .describe('Try the first model with one cheap call before anything is stored; needs the key in this request.'),
    }),
    responses: { 200: providerView, 201: providerView },
    handler: async ({ deps, principal, params, body: { check, ...body }, now }) => {
      const [first] = body.models;
      if (check === true && first !== undefined) {
        const account = { baseUrl: body.baseUrl, apiKey: body.apiKey ?? '', trusted: false };
        demandWorking(await checkAccount(deps, account, first.name));
      }
      const { provider, created } = await putProvider(deps, principal.orgId, params.name, body, now);
      return { status: created ? 201 : 200, body: provider };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/providers/{name}/check',
    operationId: 'checkProvider',
    summary: 'Try a model account with one cheap call. A failure is an answer too: `ok` is false and says why.',
    tag: 'Providers',
    scope: 'admin',
    body: z.strictObject({ model: z.string().min(1).max(200).optional().describe('Without it: the first one.') }),
    responses: { 200: checkView },
    problems: [404],
    handler: async ({ deps, principal, params, body }) => ({
      body: await checkProvider(deps, principal.orgId, params.name, body.model),
    }),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/providers/{name}',
    operationId: 'deleteProvider',
    summary: 'Delete a model account and its key.',
    tag: 'Providers',
    scope: 'admin',
    responses: { 204: null },
    problems: [404],
    handler: async ({ deps, principal, params }) => {
      await deleteProvider(deps, principal.orgId, params.name);
      return {};
    },
  }),
];
