/** Tickets as the API shows them. */
import * as z from 'zod';
import { VERBS } from '../router/mandate/mandate.ts';
import { EFFECT_STATES, type Posting, shownState } from '../router/outbox/posting.ts';
import type { Digest, Report } from '../router/ticket/rows.ts';
import { PHASES, REPORTS, type Ticket } from '../router/ticket/ticket.ts';

const time = z.iso.datetime();
const iso = (ms: number): string => new Date(ms).toISOString();

const reportView = z.object({
  state: z.enum(REPORTS),
  on: z.enum(['person', 'event']).optional(),
  text: z.string(),
  at: time,
});

export const ticketView = z
  .object({
    id: z.string(),
    title: z.string(),
    phase: z.enum(PHASES),
    reason: z
      .object({ code: z.string(), message: z.string() })
      .optional()
      .describe('Why it stands where it stands: the question, what is missing, what stopped it.'),
    mandate: z.object({
      id: z.string(),
      verb: z.enum(VERBS),
      repositoryId: z.string().optional(),
      paths: z.array(z.string()).optional(),
      labels: z.array(z.string()).optional(),
      state: z.enum(['active', 'revoked']),
      grantedBy: z.string(),
      policyVersion: z.int(),
      revokedBy: z.string().optional(),
    }),
    openedBy: z.string(),
    triggerId: z.string().optional(),
    asked: z.string().describe('Its first words.'),
    threadIds: z.array(z.string()),
    executionIds: z.array(z.string()).describe('The last one works now.'),
    reports: z.array(reportView).describe('Newest first; in a list only the last one.'),
    slot: z.enum(['ordinary', 'human']).optional().describe('The place that it holds while it works.'),
    retries: z.int(),
    createdAt: time,
    updatedAt: time,
    endedAt: time.optional(),
  })
  .meta({ id: 'Ticket' });

export const ticketDetails = ticketView
  .extend({
    effects: z.array(
      z.object({
        id: z.string(),
        kind: z.string(),
        threadId: z.string(),
        state: z.enum(EFFECT_STATES),
        url: z.string().optional(),
        createdAt: time,
      }),
    ),
    digest: z
      .object({ asked: z.string(), done: z.string(), learned: z.array(z.string()), end: z.string() })
      .optional()
      .describe('What is left of it, once it is closed.'),
  })
  .meta({ id: 'TicketDetails' });

const reportJson = ({ state, on, text, at }: Omit<Report, 'n' | 'executionId'>) => ({
  state,
  ...(on !== undefined && { on }),
  text,
  at: iso(at),
});

export const ticketJson = (ticket: Ticket, reports?: readonly Report[]): z.output<typeof ticketView> => {
  const last = ticket.report === undefined ? [] : [reportJson(ticket.report)];
  return {
    id: ticket.id,
    title: ticket.title,
    phase: ticket.phase,
    ...(ticket.reason !== undefined && { reason: ticket.reason }),
    mandate: ticket.mandate,
    openedBy: ticket.openedBy,
    ...(ticket.triggerId !== undefined && { triggerId: ticket.triggerId }),
    asked: ticket.asked,
    threadIds: ticket.threads.map(({ threadId }) => threadId),
    executionIds: ticket.executionIds,
    reports: reports === undefined ? last : reports.map(reportJson),
    ...(ticket.slot !== undefined && { slot: ticket.slot }),
    retries: ticket.retries,
    createdAt: iso(ticket.createdAt),
    updatedAt: iso(ticket.updatedAt),
    ...(ticket.endedAt !== undefined && { endedAt: iso(ticket.endedAt) }),
  };
};

export const detailsJson = (
  ticket: Ticket,
  reports: readonly Report[],
  postings: readonly Posting[],
  digest: Digest | undefined,
): z.output<typeof ticketDetails> => ({
  ...ticketJson(ticket, reports),
  effects: postings.map((posting) => ({
    id: posting.id,
    kind: posting.kind,
    threadId: posting.threadId,
    state: shownState(posting),
    ...(posting.remoteUrl !== undefined && { url: posting.remoteUrl }),
    createdAt: iso(posting.createdAt),
  })),
  ...(digest !== undefined && {
    digest: { asked: digest.asked, done: digest.done, learned: digest.learned, end: digest.end },
  }),
});
