import * as z from 'zod';
import { shorten } from '../../router/points.ts';
import { listPolicyVersions } from '../../router/policy/list-versions.ts';
import { loadPolicy } from '../../router/policy/load-policy.ts';
import { NEW_POLICY, policySchema, type VersionedPolicy } from '../../router/policy/policy.ts';
import { type PreviewedTrigger, previewPolicy } from '../../router/policy/preview-policy.ts';
import { putPolicy } from '../../router/policy/put-policy.ts';
import { ACTOR_TYPES, gateSchema } from '../../router/thread/trigger.ts';
import { defineRoute, type Route } from '../define-route.ts';
import type { ApiDeps } from '../deps.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';
import { time } from './fields.ts';

const version = z.int().min(0).max(999_999);

const policyView = policySchema
  .extend({ version: version.describe('0: nobody has written one yet.') })
  .meta({ id: 'Policy' });

const versionView = policyView
  .extend({ createdAt: time, createdBy: z.string().describe('Id of the key.') })
  .meta({ id: 'PolicyVersion' });

const policyBody = policySchema
  .partial()
  .extend({
    version: version
      .optional()
      .describe(
        'The version it was made from, as GET showed it: refused when another one stands. Without it: no matter.',
      ),
  })
  .describe('What is left out is as in a new policy: observe, nobody listed, nothing admitted.');

const count = z.object({ now: z.int().min(0), draft: z.int().min(0) });

const previewView = z
  .object({
    version: version.describe('The number that the draft would get.'),
    changed: z.int().min(0),
    counts: z.object({ explicit: count, inferred: count, ignored: count }),
    items: z.array(
      z.object({
        triggerId: z.string(),
        threadId: z.string(),
        sourceId: z.string(),
        scope: z.string(),
        kind: z.string(),
        actor: z.object({ id: z.string(), type: z.enum(ACTOR_TYPES), login: z.string().optional() }),
        text: z.string().describe('Its beginning.'),
        url: z.string().optional(),
        occurredAt: time,
        now: gateSchema.describe('The verdict that it got when it came.'),
        draft: gateSchema,
        changed: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'PolicyPreview' });

const EXCERPT = 200; // code points

const among = (deps: ApiDeps) => ({ ...deps, tools: deps.tools.map(({ name }) => name) });

const view = ({ version: number, policy }: VersionedPolicy) => ({ version: number, ...policy });

const previewed = ({ trigger, draft, changed }: PreviewedTrigger) => ({
  ...trigger,
  triggerId: trigger.id,
  text: shorten(trigger.text, EXCERPT),
  occurredAt: new Date(trigger.occurredAt).toISOString(),
  now: trigger.gate,
  draft,
  changed,
});

/** A draft as it would be saved. */
const whole = ({ version: _, ...given }: z.output<typeof policyBody>) =>
  policySchema.parse({ ...NEW_POLICY, ...given });

export const policyRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/v1/policy',
    operationId: 'getPolicy',
    summary: 'Whom the Router listens to and what it may do.',
    tag: 'Router',
    scope: 'read',
    responses: { 200: policyView },
    handler: async ({ deps, principal }) => ({ body: view(await loadPolicy(deps.table, principal.orgId)) }),
  }),
  defineRoute({
    method: 'PUT',
    path: '/v1/policy',
    operationId: 'putPolicy',
    summary: 'Save the next version of the policy. Evals that run are discarded; mandates that were granted stay.',
    tag: 'Router',
    scope: 'admin',
    body: policyBody,
    responses: { 200: policyView },
    problems: [409],
    idempotent: true,
    handler: async ({ deps, principal: { orgId, keyId }, body, now, record }) => {
      const given = {
        orgId,
        actor: keyId,
        policy: whole(body),
        basedOn: body.version,
        alongside: (saved: VersionedPolicy) => record(view(saved)),
      };
      return { body: view(await putPolicy(among(deps), given, now)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/policy/versions',
    operationId: 'listPolicyVersions',
    summary: 'List every version of the policy that was saved, newest first.',
    tag: 'Router',
    scope: 'read',
    query: z.strictObject(pageQuery),
    responses: { 200: listOf(versionView) },
    handler: async ({ deps, principal, page }) => {
      const at = page('policy-versions');
      const listed = await listPolicyVersions(deps, principal.orgId, at);
      const items = listed.items.map(({ at: createdAt, by: createdBy, ...saved }) => ({
        ...view(saved),
        createdAt,
        createdBy,
      }));
      return { body: listBody(at, { ...listed, items }) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/policy/preview',
    operationId: 'previewPolicy',
    summary: 'What the Gate of a draft would make of the last triggers. Nothing is changed and no model is asked.',
    tag: 'Router',
    scope: 'read',
    query: z.strictObject({
      limit: z.coerce.number().pipe(z.int().min(1).max(200)).default(50).describe('Triggers that are looked at.'),
    }),
    body: policyBody,
    responses: { 200: previewView },
    handler: async ({ deps, principal, query, body }) => {
      const preview = await previewPolicy(among(deps), principal.orgId, whole(body), query.limit);
      return { body: { ...preview, items: preview.items.map(previewed) } };
    },
  }),
];
