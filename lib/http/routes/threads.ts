import * as z from 'zod';
import { getThread } from '../../router/thread/find.ts';
import { listDecisions, listThreads, listTriggers, pendingOf } from '../../router/thread/list.ts';
import { DECISIONS } from '../../router/thread/trigger.ts';
import { defineRoute, idPattern, type Route } from '../define-route.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';
import {
  decisionJson,
  decisionView,
  SHOWN_CLASSES,
  TRIGGER_STATES,
  threadJson,
  threadView,
  triggerJson,
  triggerView,
} from '../thread-json.ts';

const id = z.string().min(1).max(200);
const threadId = z.string().regex(new RegExp(idPattern({ prefix: 'thr', what: 'thread' })));
const flag = z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' });

export const threadRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/v1/triggers',
    operationId: 'listTriggers',
    summary: 'List events of the sources with what became of each and why, newest first.',
    tag: 'Threads',
    scope: 'read',
    query: z.strictObject({
      ...pageQuery,
      threadId: threadId.optional(),
      sourceId: id.optional(),
      class: z.enum(SHOWN_CLASSES).optional(),
      state: z.enum(TRIGGER_STATES).optional(),
    }),
    responses: { 200: listOf(triggerView) },
    handler: async ({ deps, principal: { orgId }, query, page }) => {
      const filter = { threadId: query.threadId, sourceId: query.sourceId, class: query.class, state: query.state };
      const at = page(`triggers?${JSON.stringify(filter)}`);
      const { items, ...rest } = await listTriggers(deps, orgId, filter, at);
      return { body: listBody(at, { items: items.map(triggerJson), ...rest }) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/threads',
    operationId: 'listThreads',
    summary: 'List discussions, newest first.',
    tag: 'Threads',
    scope: 'read',
    query: z.strictObject({ ...pageQuery, sourceId: id.optional(), repositoryId: id.optional() }),
    responses: { 200: listOf(threadView) },
    handler: async ({ deps, principal: { orgId }, query: { sourceId, repositoryId }, page, now }) => {
      const filter = { sourceId, repositoryId };
      const at = page(`threads?${JSON.stringify(filter)}`);
      const { items, ...rest } = await listThreads(deps, orgId, filter, at);
      return { body: listBody(at, { items: items.map((thread) => threadJson(thread, now)), ...rest }) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/threads/{threadId}',
    operationId: 'getThread',
    summary: 'Get a discussion, with the ids of the triggers that wait for a decision.',
    tag: 'Threads',
    scope: 'read',
    responses: {
      200: threadView.extend({ pendingTriggerIds: z.array(z.string()) }).meta({ id: 'ThreadWithPending' }),
    },
    problems: [404],
    handler: async ({ deps, principal: { orgId }, params, now }) => {
      const thread = await getThread(deps.table, orgId, params.threadId);
      const pendingTriggerIds = await pendingOf(deps.table, thread);
      return { body: { ...threadJson(thread, now), pendingTriggerIds } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/decisions',
    operationId: 'listDecisions',
    summary:
      'List what was decided, by whom and by which rule, newest first; what the gate alone turned away is in /v1/triggers.',
    tag: 'Threads',
    scope: 'read',
    query: z.strictObject({
      ...pageQuery,
      threadId: threadId.optional(),
      decision: z.enum(DECISIONS).optional(),
      wouldAccept: flag.optional(),
    }),
    responses: { 200: listOf(decisionView) },
    handler: async ({ deps, principal: { orgId }, query, page }) => {
      const filter = { threadId: query.threadId, decision: query.decision, wouldAccept: query.wouldAccept };
      const at = page(`decisions?${JSON.stringify(filter)}`);
      const { items, ...rest } = await listDecisions(deps, orgId, filter, at);
      return { body: listBody(at, { items: items.map(decisionJson), ...rest }) };
    },
  }),
];
