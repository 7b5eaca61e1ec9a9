/** What a ticket asks of people: at most one item at a time, known by its phase and since when it asks. */
import {
  type AttentionKind,
  type Cause,
  closeAttention,
  type NewAttention,
  openAttention,
} from '../../attention/attention.ts';
import type { Write } from '../../kernel/table.ts';
import { shorten } from '../points.ts';
import type { Phase, Ticket } from './ticket.ts';

const KINDS: { readonly [phase in Phase]?: AttentionKind } = {
  'person/answer': 'ticket_answer',
  'person/review': 'ticket_review',
  blocked: 'ticket_blocked',
  failed: 'ticket_failed',
};

type Asking = Pick<Ticket, 'id' | 'orgId' | 'title' | 'phase' | 'reason' | 'attentionSince'>;

const causeOf = ({ id, orgId, phase, attentionSince }: Asking): Cause | undefined => {
  const kind = KINDS[phase];
  if (kind === undefined || attentionSince === undefined) return undefined;
  return { orgId, kind, subject: { type: 'ticket', id }, at: attentionSince };
};

const LONGEST = 900; // code points

const actionsOf = ({ id, phase }: Asking): NewAttention['actions'] => {
  const url = `/v1/tickets/${id}`;
  const stop = { label: 'Stop', method: 'POST' as const, path: `${url}/stop` };
  const retry = { label: 'Try again', method: 'POST' as const, path: `${url}/retry` };
  const say = (label: string, content: string) => ({
    label,
    method: 'POST' as const,
    path: `${url}/answer`,
    body: { content },
  });
  switch (phase) {
    case 'person/answer':
      return [say('Leave it to the worker', 'Decide it yourself, as you think best.'), stop];
    case 'person/review':
      return [say('Approve', 'Reviewed and approved: finish it.'), stop];
    default:
      return [retry, stop];
  }
};

const itemOf = (ticket: Asking, cause: Cause): NewAttention => ({
  ...cause,
  question: `${shorten(ticket.title, 100)}: ${shorten(ticket.reason?.message ?? ticket.phase, LONGEST)}`,
  url: `/v1/tickets/${ticket.id}`,
  actions: actionsOf(ticket),
});

/** For the transaction that changes a ticket: its item of before is closed, and one is opened where it asks. */
export const attentionWrites = (before: Asking | undefined, after: Asking): readonly Write[] => {
  const left = before && causeOf(before);
  const entered = causeOf(after);
  const same = left !== undefined && left.kind === entered?.kind && left.at === entered.at;
  return [
    ...(left === undefined || same ? [] : [closeAttention(left)]),
    ...(entered === undefined ? [] : [openAttention(itemOf(after, entered))]),
  ];
};
