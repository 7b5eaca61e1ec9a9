/**
 * What a proposal of the model comes to. Pure. The Gate's class, the mode and the grants decide; the text of a Trigger has
 * reached only the model, and the model only proposes.
 */
import { cutMandate } from '../mandate/cut-mandate.ts';
import { askingOf, grantFor } from '../mandate/grants.ts';
import type { MandateScope } from '../mandate/mandate.ts';
import { shorten } from '../points.ts';
import type { VersionedPolicy } from '../policy/policy.ts';
import { actorOf } from '../thread/deliver.ts';
import type { Trigger } from '../thread/trigger.ts';
import type { Ticket } from '../ticket/ticket.ts';
import type { Proposal } from './decisions.ts';

interface Because {
  readonly reason: string;
  readonly ruleId?: string | undefined;
}

export type Ruling =
  | (Because & {
      readonly do: 'accept';
      readonly title: string;
      readonly mandate: MandateScope;
      readonly grantedBy: string;
    })
  | (Because & { readonly do: 'join'; readonly ticket: Ticket })
  | (Because & { readonly do: 'answer'; readonly body: string })
  | (Because & { readonly do: 'stop'; readonly ticketId?: string | undefined })
  | (Because & { readonly do: 'ignore'; readonly wouldAccept?: boolean });

export interface Judged {
  /** With the Gate's verdict of now. */
  readonly trigger: Trigger;
  readonly policy: VersionedPolicy;
  readonly threadTitle: string;
  /** Tickets that the page shows: the model can mean no others. */
  readonly tickets: ReadonlyMap<string, Ticket>;
}

const LONGEST_TITLE = 200;
const LONGEST_REASON = 1_000;
/** A provider cuts for itself; this keeps a row small. */
const LONGEST_REPLY = 20_000;

/**
 * @returns the ruling; a text where the proposal cannot be meant as it stands, for the model to mend
 */
export const rule = (proposal: Proposal, judged: Judged): Ruling | string => {
  const { trigger, policy } = judged;
  const rules = policy.policy.rules;
  const ruleId = rules.some(({ id }) => id === proposal.ruleId) ? proposal.ruleId : undefined;
  const because: Because = {
    reason: shorten(proposal.reason, LONGEST_REASON),
    ...(ruleId !== undefined && { ruleId }),
  };
  if (proposal.decision === 'ignore') return { ...because, do: 'ignore' };
  if (trigger.gate.class === 'explicit') return ofPerson(proposal, judged, because);
  return ofRule(proposal, judged, because);
};

/** A listed person has asked: all five decisions, in every mode. */
const ofPerson = (proposal: Proposal, judged: Judged, because: Because): Ruling | string => {
  switch (proposal.decision) {
    case 'accept':
      return accept(proposal, judged, because, actorOf(judged.trigger));
    case 'answer':
      return answer(proposal, because);
    case 'join': {
      const ticket = judged.tickets.get(proposal.ticketId ?? '');
      return ticket === undefined ? noSuchTicket(proposal) : { ...because, do: 'join', ticket };
    }
    case 'stop': {
      // A person ends what goes on in the discussion where it is said; the rest is for those who see it.
      const { ticketId } = proposal;
      const { threadId } = judged.trigger;
      const here = judged.tickets.get(ticketId ?? '')?.threads.some((place) => place.threadId === threadId) ?? false;
      if (ticketId !== undefined && !here) return noSuchTicket(proposal);
      return { ...because, do: 'stop', ticketId };
    }
    default:
      return { ...because, do: 'ignore' };
  }
};

const noSuchTicket = ({ triggerId, ticketId }: Proposal): string =>
  `${triggerId}: ticketId ${ticketId === undefined ? 'is missing' : 'is of no ticket that can be meant'}.`;

/** Nobody listed has asked: only a rule of the team lets something happen, and only in the mode `auto`. */
const ofRule = (proposal: Proposal, judged: Judged, because: Because): Ruling | string => {
  const { decision } = proposal;
  if (decision === 'join' || decision === 'stop') {
    return { ...because, do: 'ignore', reason: `Only a listed person can ${decision}. ${because.reason}` };
  }
  if (because.ruleId === undefined) {
    return `${proposal.triggerId}: nobody listed has asked, so ${decision} needs the ruleId of a rule that applies.`;
  }
  if (judged.policy.policy.mode !== 'auto') {
    return { ...because, do: 'ignore', ...(decision === 'accept' && { wouldAccept: true }) };
  }
  return decision === 'accept'
    ? accept(proposal, judged, because, `rule:${because.ruleId}`)
    : answer(proposal, because);
};

const accept = (proposal: Proposal, judged: Judged, because: Because, grantedBy: string): Ruling => {
  const { trigger, policy, threadTitle } = judged;
  const grant = grantFor(policy.policy, askingOf(trigger, because.ruleId));
  return {
    ...because,
    do: 'accept',
    title: shorten(proposal.title ?? threadTitle, LONGEST_TITLE),
    mandate: cutMandate(scopeOf(proposal), grant, { repositoryId: trigger.repositoryId }),
    grantedBy,
  };
};

const scopeOf = ({ mandate }: Proposal): MandateScope | undefined =>
  mandate && {
    verb: mandate.verb,
    ...(mandate.repositoryId !== undefined && { repositoryId: mandate.repositoryId }),
    ...(mandate.paths !== undefined && { paths: mandate.paths }),
    ...(mandate.labels !== undefined && { labels: mandate.labels }),
  };

const answer = ({ triggerId, reply }: Proposal, because: Because): Ruling | string =>
  reply === undefined
    ? `${triggerId}: an answer needs a reply.`
    : { ...because, do: 'answer', body: shorten(reply, LONGEST_REPLY) };
