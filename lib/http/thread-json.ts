/** Triggers, Threads and decisions as the API shows them. */
import * as z from 'zod';
import { classOf } from '../router/thread/list.ts';
import type { DecisionRow } from '../router/thread/rows.ts';
import type { Thread } from '../router/thread/thread.ts';
import { ACTOR_TYPES, CLASSES, DECISIONS, type Trigger } from '../router/thread/trigger.ts';

const time = z.iso.datetime();
const iso = (ms: number): string => new Date(ms).toISOString();

export const SHOWN_CLASSES = [...CLASSES, 'direct'] as const;
export const TRIGGER_STATES = ['pending', 'delivering', 'delivered', 'decided', 'withdrawn'] as const;

export const triggerView = z
  .object({
    id: z.string(),
    threadId: z.string(),
    sourceId: z.string(),
    scope: z.string(),
    kind: z.string(),
    actor: z.object({ id: z.string(), type: z.enum(ACTOR_TYPES), login: z.string().optional() }),
    authorId: z.string().optional().describe('Who wrote the text, where another one edited it.'),
    class: z.enum(SHOWN_CLASSES).describe('direct: it went to the tickets that subscribe to its Thread.'),
    gate: z.object({ class: z.enum(CLASSES), row: z.string(), reason: z.string(), policyVersion: z.int() }),
    state: z.enum(TRIGGER_STATES),
    decision: z
      .object({
        decision: z.enum(DECISIONS),
        ruleId: z.string().optional(),
        reason: z.string(),
        policyVersion: z.int(),
        wouldAccept: z.boolean().optional(),
        ticketId: z.string().optional(),
        at: time,
      })
      .optional(),
    ticketIds: z.array(z.string()).describe('Tickets that it went to.'),
    text: z.string(),
    revision: z.int(),
    url: z.string().optional(),
    deliveryId: z.string(),
    occurredAt: time,
    receivedAt: time,
  })
  .meta({ id: 'Trigger' });

export const triggerJson = (trigger: Trigger): z.output<typeof triggerView> => {
  const { id, threadId, sourceId, scope, kind, actor, authorId, gate, decision, url } = trigger;
  return {
    id,
    threadId,
    sourceId,
    scope,
    kind,
    actor: { id: actor.id, type: actor.type, ...(actor.login !== undefined && { login: actor.login }) },
    ...(authorId !== undefined && { authorId }),
    class: classOf(trigger),
    gate: { class: gate.class, row: gate.row, reason: gate.reason, policyVersion: gate.policyVersion },
    state: trigger.state,
    ...(decision !== undefined && { decision: decisionPart(decision) }),
    ticketIds: trigger.tickets ?? [],
    text: trigger.text,
    revision: trigger.revision,
    ...(url !== undefined && { url }),
    deliveryId: trigger.deliveryId,
    occurredAt: iso(trigger.occurredAt),
    receivedAt: iso(trigger.receivedAt),
  };
};

const decisionPart = (decision: NonNullable<Trigger['decision']>) => ({
  decision: decision.decision,
  ...(decision.ruleId !== undefined && { ruleId: decision.ruleId }),
  reason: decision.reason,
  policyVersion: decision.policyVersion,
  ...(decision.wouldAccept !== undefined && { wouldAccept: decision.wouldAccept }),
  ...(decision.ticketId !== undefined && { ticketId: decision.ticketId }),
  at: iso(decision.at),
});

export const decisionView = z
  .object({
    id: z.string(),
    triggerId: z.string(),
    revision: z.int().describe('Of the Trigger that was decided about.'),
    threadId: z.string(),
    decision: z.string().describe(`${DECISIONS.join(', ')}; others may come.`),
    ruleId: z.string().optional(),
    reason: z.string(),
    policyVersion: z.int(),
    wouldAccept: z.boolean().optional().describe('In the mode auto it would have opened a ticket.'),
    ticketId: z.string().optional(),
    at: time,
  })
  .meta({ id: 'Decision' });

export const decisionJson = (row: DecisionRow): z.output<typeof decisionView> => ({
  id: row.id,
  triggerId: row.triggerId,
  revision: row.revision,
  threadId: row.threadId,
  decision: row.decision,
  ...(row.ruleId !== undefined && { ruleId: row.ruleId }),
  reason: row.reason,
  policyVersion: row.policyVersion,
  ...(row.wouldAccept !== undefined && { wouldAccept: row.wouldAccept }),
  ...(row.ticketId !== undefined && { ticketId: row.ticketId }),
  at: iso(row.at),
});

export const threadView = z
  .object({
    id: z.string(),
    sourceId: z.string(),
    key: z.string().describe("The provider's own name of the discussion."),
    title: z.string(),
    url: z.string().optional(),
    repositoryId: z.string().optional(),
    subject: z.object({ state: z.enum(['open', 'closed', 'merged', 'gone']), at: time }).optional(),
    ticketIds: z.array(z.string()).describe('Tickets that subscribe to it.'),
    assessing: z.boolean().describe('Its Eval is under way.'),
    mutedSince: time.optional().describe('Too many replies went out here within an hour.'),
    stoppedAt: time.optional().describe('A person has said stop here.'),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Thread' });

export const threadJson = (thread: Thread, now: number): z.output<typeof threadView> => {
  const { id, sourceId, key, title, url, repositoryId, subject, tickets, mutedSince, stoppedAt } = thread;
  return {
    id,
    sourceId,
    key,
    title,
    ...(url !== undefined && { url }),
    ...(repositoryId !== undefined && { repositoryId }),
    ...(subject !== undefined && { subject: { state: subject.state, at: iso(subject.at) } }),
    ticketIds: tickets,
    assessing: (thread.leaseUntil ?? 0) > now,
    ...(mutedSince !== undefined && { mutedSince: iso(mutedSince) }),
    ...(stoppedAt !== undefined && { stoppedAt: iso(stoppedAt) }),
    createdAt: iso(thread.createdAt),
    updatedAt: iso(thread.updatedAt),
  };
};
