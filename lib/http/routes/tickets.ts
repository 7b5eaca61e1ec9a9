import * as z from 'zod';
import { scopeSchema } from '../../router/mandate/mandate.ts';
import { loadPolicy } from '../../router/policy/load-policy.ts';
import { digestOf, listTickets, postingsOf, reportsOf } from '../../router/ticket/list.ts';
import { openTicket } from '../../router/ticket/open.ts';
import { answerTicket, getTicket, retryTicket } from '../../router/ticket/people.ts';
import { stopTicket } from '../../router/ticket/stop.ts';
import { PHASES, type Ticket } from '../../router/ticket/ticket.ts';
import { defineRoute, idPattern, type Route } from '../define-route.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';
import { detailsJson, ticketDetails, ticketJson, ticketView } from '../ticket-json.ts';

const threadId = z.string().regex(new RegExp(idPattern({ prefix: 'thr', what: 'thread' })));
const globs = z.array(z.string().min(1).max(300)).max(50);
const words = z.string().trim().min(1);

const mandateBody = z.strictObject({
  verb: scopeSchema.shape.verb,
  repositoryId: z.string().min(1).max(200).optional().describe("The provider's own id."),
  paths: globs.optional(),
  labels: globs.optional(),
});

export const ticketRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/v1/tickets',
    operationId: 'listTickets',
    summary: 'List tickets, newest first.',
    tag: 'Tickets',
    scope: 'read',
    query: z.strictObject({ ...pageQuery, phase: z.enum(PHASES).optional(), threadId: threadId.optional() }),
    responses: { 200: listOf(ticketView) },
    handler: async ({ deps, principal: { orgId }, query: { phase, threadId: thread }, page }) => {
      const at = page(`tickets?${JSON.stringify({ phase, thread })}`);
      const { items, ...rest } = await listTickets(deps, orgId, { phase, threadId: thread }, at);
      return { body: listBody(at, { items: items.map((ticket) => ticketJson(ticket)), ...rest }) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/tickets',
    operationId: 'openTicket',
    summary: 'Open a ticket: a worker begins on it as soon as there is a place.',
    tag: 'Tickets',
    scope: 'run',
    body: z.strictObject({
      title: words.max(200),
      text: words.max(50_000).describe('What is asked.'),
      mandate: mandateBody.default({ verb: 'comment' }).describe('How far it may go; without it, words alone.'),
      threadId: threadId.optional().describe('The discussion that it may speak in.'),
    }),
    responses: { 201: ticketView },
    problems: [404, 409],
    idempotent: true,
    handler: async ({ deps, principal: { orgId, keyId }, body, record }) => {
      const { title, text, mandate, threadId: thread } = body;
      const { version } = await loadPolicy(deps.table, orgId);
      const ticket = await openTicket(deps.tickets, {
        orgId,
        actor: keyId,
        title,
        text,
        mandate,
        threadId: thread,
        policyVersion: version,
        alongside: (opened: Ticket) => record(ticketJson(opened)),
      });
      return { body: ticketJson(ticket) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/tickets/{ticketId}',
    operationId: 'getTicket',
    summary: 'Get a ticket with its reports, what it said, and its digest once it is closed.',
    tag: 'Tickets',
    scope: 'read',
    responses: { 200: ticketDetails },
    problems: [404],
    handler: async ({ deps, principal: { orgId }, params: { ticketId } }) => {
      const ticket = await getTicket(deps, { orgId, ticketId });
      const [reports, postings, digest] = await Promise.all([
        reportsOf(deps, ticket),
        postingsOf(deps, ticket),
        digestOf(deps, ticket),
      ]);
      return { body: detailsJson(ticket, reports, postings, digest) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/tickets/{ticketId}/stop',
    operationId: 'stopTicket',
    summary:
      'Stop a ticket for good: its mandate is revoked, its worker ended, and nothing that it still wanted to say goes out.',
    tag: 'Tickets',
    scope: 'run',
    responses: { 200: ticketView },
    problems: [404],
    handler: async ({ deps, principal: { orgId, keyId }, params: { ticketId }, now }) => {
      await stopTicket(deps.tickets, { orgId, ticketId }, { by: `key ${keyId}`, at: now });
      return { body: ticketJson(await getTicket(deps, { orgId, ticketId })) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/tickets/{ticketId}/answer',
    operationId: 'answerTicket',
    summary: 'Answer what a ticket asks, or give it its next message. A ticket that has ended goes on with it.',
    tag: 'Tickets',
    scope: 'run',
    body: z.strictObject({ content: words.max(50_000) }),
    responses: { 202: ticketView },
    problems: [404, 409],
    idempotent: true,
    handler: async ({ deps, principal: { orgId, keyId }, params: { ticketId }, body, record, now }) => {
      const asked = { actor: keyId, key: deps.ids.next('aud', now) };
      const beside = (ticket: Ticket) => record(ticketJson(ticket));
      const ticket = await answerTicket(deps.tickets, { orgId, ticketId }, body.content, asked, beside);
      return { body: ticketJson(ticket) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/tickets/{ticketId}/retry',
    operationId: 'retryTicket',
    summary:
      'Let a ticket go on where a fuse, an error or a pause stopped it; a limit that stopped it is raised by as much again.',
    tag: 'Tickets',
    scope: 'run',
    responses: { 202: ticketView },
    problems: [404, 409],
    idempotent: true,
    handler: async ({ deps, principal: { orgId, keyId }, params: { ticketId }, record, now }) => {
      const asked = { actor: keyId, key: deps.ids.next('aud', now) };
      const beside = (ticket: Ticket) => record(ticketJson(ticket));
      return { body: ticketJson(await retryTicket(deps.tickets, { orgId, ticketId }, asked, beside)) };
    },
  }),
];
