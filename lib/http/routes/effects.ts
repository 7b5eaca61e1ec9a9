import * as z from 'zod';
import { dropPosting, getPosting, listPostings, releasePosting, retryPosting } from '../../router/outbox/manage.ts';
import { EFFECT_STATES, POSTING_KINDS, type Posting, shownState } from '../../router/outbox/posting.ts';
import { type Call, defineRoute, idPattern, type Route } from '../define-route.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';
import { time } from './fields.ts';

const effectView = z
  .object({
    id: z.string(),
    kind: z.enum(POSTING_KINDS).describe('document: the one comment of a ticket in a discussion, edited in place.'),
    state: z.enum(EFFECT_STATES).describe('unknown: it may be out; it is looked for before it is sent again.'),
    reason: z.object({ code: z.string(), message: z.string() }).optional(),
    sourceId: z.string(),
    threadId: z.string(),
    ticketId: z.string().optional().describe('Missing: an answer without a ticket.'),
    verb: z.string().describe('What the mandate must allow.'),
    body: z.string(),
    note: z.string().optional().describe('Below the body of a document: how the work stands.'),
    reviewers: z.array(z.string()).optional(),
    attempts: z.number(),
    nextAt: time.optional(),
    url: z.string().optional().describe('Where it is to be seen.'),
    createdAt: time,
    sentAt: time.optional(),
  })
  .meta({ id: 'Effect' });

const iso = (ms: number): string => new Date(ms).toISOString();

const effectJson = (posting: Posting): z.input<typeof effectView> => {
  const { id, kind, reason, sourceId, threadId, ticketId, verb, body, note, reviewers, attempts } = posting;
  return {
    id,
    kind,
    state: shownState(posting),
    ...(reason !== undefined && { reason }),
    sourceId,
    threadId,
    ...(ticketId !== undefined && { ticketId }),
    verb,
    body,
    ...(note !== undefined && { note }),
    ...(reviewers !== undefined && { reviewers }),
    attempts,
    ...(posting.notBefore !== undefined && { nextAt: iso(posting.notBefore) }),
    ...(posting.remoteUrl !== undefined && { url: posting.remoteUrl }),
    createdAt: iso(posting.createdAt),
    ...(posting.sentAt !== undefined && { sentAt: iso(posting.sentAt) }),
  };
};

const idOf = (prefix: 'tkt' | 'thr', what: string) => z.string().regex(new RegExp(idPattern({ prefix, what })));

type Act = typeof retryPosting;

const act =
  (use: Act) =>
  async ({ deps, principal, params }: Call<{ readonly effectId: string }, unknown, unknown>) => ({
    body: effectJson(await use(deps, principal.orgId, params.effectId)),
  });

const common = { tag: 'Effects' } as const;
const change = {
  ...common,
  method: 'POST',
  scope: 'run',
  responses: { 200: effectView },
  problems: [404, 409],
} as const;

export const effectRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    method: 'GET',
    path: '/v1/effects',
    operationId: 'listEffects',
    summary: 'List what is said and done in discussions, newest first.',
    scope: 'read',
    query: z.strictObject({
      ...pageQuery,
      state: z.enum(EFFECT_STATES).optional(),
      ticketId: idOf('tkt', 'ticket').optional(),
      threadId: idOf('thr', 'thread').optional(),
    }),
    responses: { 200: listOf(effectView) },
    handler: async ({ deps, principal: { orgId }, query: { state, ticketId, threadId }, page }) => {
      const filter = { state, ticketId, threadId };
      const at = page(`effects?${JSON.stringify(filter)}`);
      const { items, ...rest } = await listPostings(deps, orgId, filter, at);
      return { body: listBody(at, { items: items.map(effectJson), ...rest }) };
    },
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/v1/effects/{effectId}',
    operationId: 'getEffect',
    summary: 'Get something that is said or done in a discussion.',
    scope: 'read',
    responses: { 200: effectView },
    problems: [404],
    handler: async ({ deps, principal: { orgId }, params: { effectId } }) => ({
      body: effectJson(await getPosting(deps.table, orgId, effectId)),
    }),
  }),
  defineRoute({
    ...change,
    path: '/v1/effects/{effectId}/retry',
    operationId: 'retryEffect',
    summary: 'Try again what was given up, or what may be out and is not found. The mandate is compared as ever.',
    handler: act(retryPosting),
  }),
  defineRoute({
    ...change,
    path: '/v1/effects/{effectId}/release',
    operationId: 'releaseEffect',
    summary: 'Let go what is held. In a muted discussion, everything else that is held there follows.',
    handler: act(releasePosting),
  }),
  defineRoute({
    ...change,
    path: '/v1/effects/{effectId}/drop',
    operationId: 'dropEffect',
    summary: 'Have something not said. Of a document, only what it was to become next.',
    handler: act(dropPosting),
  }),
];
