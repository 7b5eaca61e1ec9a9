import * as z from 'zod';
import { ATTENTION_KINDS, type Attention } from '../../attention/attention.ts';
import { getAttention, listAttention } from '../../attention/list.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';

const attentionView = z
  .object({
    id: z.string(),
    kind: z.string().describe(`${ATTENTION_KINDS.join(', ')}; others may come.`),
    subject: z.object({ type: z.string(), id: z.string() }),
    question: z.string().describe('What a person is asked or told, in a sentence.'),
    url: z.string().describe('Path of the subject.'),
    since: z.iso.datetime(),
    actions: z
      .array(
        z.object({
          label: z.string(),
          method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
          path: z.string(),
          body: z.record(z.string(), z.unknown()).optional(),
        }),
      )
      .describe('Requests that settle it, to be sent as they are. Where one prepares another, it stands before it.'),
  })
  .meta({ id: 'Attention' });

const attentionJson = (item: Attention): z.output<typeof attentionView> => ({
  id: item.attentionId,
  kind: item.kind,
  subject: { type: item.subjectType, id: item.subjectId },
  question: item.question,
  url: item.url,
  since: new Date(item.since).toISOString(),
  actions: item.actions,
});

export const attentionRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/v1/attention',
    operationId: 'listAttention',
    summary: 'List what waits for a person, oldest first.',
    tag: 'Attention',
    scope: 'read',
    query: z.strictObject({
      ...pageQuery,
      kind: z.enum(ATTENTION_KINDS).optional(),
      subjectType: z.string().min(1).max(64).optional(),
      subjectId: z.string().min(1).max(200).optional().describe('Of the subject, or of the run that it belongs to.'),
    }),
    responses: { 200: listOf(attentionView) },
    handler: async ({ deps, principal, query: { kind, subjectType, subjectId }, page }) => {
      const filter = { kind, subjectType, subjectId };
      const at = page(`attention?${JSON.stringify(filter)}`);
      const { items, ...rest } = await listAttention(deps, principal.orgId, filter, at);
      return { body: listBody(at, { items: items.map(attentionJson), ...rest }) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/attention/{attentionId}',
    operationId: 'getAttention',
    summary: 'Get something that waits for a person; once it is settled it is gone.',
    tag: 'Attention',
    scope: 'read',
    responses: { 200: attentionView },
    problems: [404],
    handler: async ({ deps, principal: { orgId }, params: { attentionId } }) => ({
      body: attentionJson(await getAttention(deps, orgId, attentionId)),
    }),
  }),
];
