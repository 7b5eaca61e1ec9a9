import * as z from 'zod';
import { endOfDay, startOfDay } from '../../kernel/day.ts';
import { badRequest } from '../../kernel/errors.ts';
import { AUDIT_STATES, type AuditEntry, listAudit } from '../../tenancy/audit.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';
import { day, momentText, time } from './fields.ts';

const auditView = z
  .object({
    id: z.string(),
    at: time,
    actor: z.string().describe('Id of the key.'),
    action: z.string().describe('The operation, by its name in this document.'),
    subject: z.object({ type: z.string(), id: z.string() }),
    state: z
      .enum(AUDIT_STATES)
      .describe('`asked`: what became of it is not known; `failed`: our own fault, part of it may have been done.'),
    status: z.int().optional(),
    code: z.string().optional(),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditEntry' });

const auditJson = ({ auditId, at, ttl: _, ...rest }: AuditEntry): z.output<typeof auditView> => ({
  id: auditId,
  at: new Date(at).toISOString(),
  ...rest,
});

const dayOrMoment = z.union([day, momentText]);

/** A day stands for all of it. */
const firstOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : text.length === 10 ? startOfDay(text) : Date.parse(text);
const lastOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : text.length === 10 ? endOfDay(text) - 1 : Date.parse(text);

export const auditRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/v1/audit',
    operationId: 'listAudit',
    summary: 'Who did what, when, to what; newest first.',
    tag: 'Audit',
    scope: 'admin',
    query: z.strictObject({
      ...pageQuery,
      actor: z.string().min(1).max(200).optional().describe('Id of a key.'),
      subject: z.string().min(1).max(200).optional().describe('Id of what was changed, or of what it belongs to.'),
      from: dayOrMoment.optional().describe('A day or a time, included.'),
      to: dayOrMoment.optional().describe('A day or a time, included.'),
    }),
    responses: { 200: listOf(auditView) },
    handler: async ({ deps, principal: { orgId }, query: { actor, subject, from, to }, page }) => {
      const filter = { actor, subject, from: firstOf(from), to: lastOf(to) };
      if (filter.from !== undefined && filter.to !== undefined && filter.from > filter.to) {
        const error = { field: 'from', received: String(from), expected: `not after ${to}` };
        throw badRequest('The range ends before it begins.', [error]);
      }
      const at = page(`audit?${JSON.stringify(filter)}`);
      const { items, ...rest } = await listAudit(deps, orgId, filter, at);
      return { body: listBody(at, { items: items.map(auditJson), ...rest }) };
    },
  }),
];
