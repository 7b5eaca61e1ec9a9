/**
 * What a model sees of a Thread: what is to be decided, what stands around it, which tickets there are. Needed now is
 * inline, the rest is an id that `read` resolves. Every text of others stands in a frame; ids, classes and times are ours.
 */
import { askingOf, grantFor } from '../mandate/grants.ts';
import type { MandateScope } from '../mandate/mandate.ts';
import { slice } from '../points.ts';
import type { VersionedPolicy } from '../policy/policy.ts';
import type { Thread } from '../thread/thread.ts';
import type { Trigger } from '../thread/trigger.ts';
import type { Ticket } from '../ticket/ticket.ts';
import { framed, neutral } from '../untrusted/frame.ts';
import { legible } from '../untrusted/legible.ts';
import { label } from './label.ts';
import { LONGEST, type Shown } from './window.ts';

export interface PageOf {
  readonly thread: Thread;
  readonly shown: readonly Shown[];
  /** There are messages before those that are shown. */
  readonly more: boolean;
  readonly tickets: readonly Ticket[];
  readonly policy: VersionedPolicy;
  readonly mark: string;
}

const LONGEST_REPORT = 400; // code points
const LONGEST_TITLE = 300;

const time = (ms: number): string => new Date(ms).toISOString();

/** Who, what and when: facts that the host vouches for. */
export const headOf = ({ id, kind, actor, occurredAt, edited }: Trigger): string => {
  const name = actor.login === undefined ? '' : ` (${label(actor.login)})`;
  return `${id} · ${label(kind)} by ${actor.type} ${label(actor.id)}${name} · ${time(occurredAt)}${edited ? ' · edited' : ''}`;
};

const GONE = '(deleted by its author)';

/** A part of a text in its frame; where it goes on. Cut after what makes it longer, so that a length is a length. */
export const excerpt = (mark: string, text: string, from: number, most: number): readonly string[] => {
  const part = slice(neutral(text.toWellFormed()), from, most);
  return [
    framed(mark, part.text),
    ...(part.next === undefined ? [] : [`It goes on at offset ${part.next} of ${part.of}.`]),
  ];
};

export const bodyOf = (mark: string, trigger: Trigger, from: number, most: number): readonly string[] => {
  if (trigger.withdrawn === true) return [GONE];
  const { text, hidden } = legible(trigger.text);
  return [
    ...(hidden ? ['Text that readers do not see was taken out of this.'] : []),
    ...excerpt(mark, text, from, most),
  ];
};

export const scopeText = ({ verb, repositoryId, paths, labels }: MandateScope): string =>
  [
    verb,
    ...(repositoryId === undefined ? [] : [`repository ${label(repositoryId)}`]),
    ...(paths === undefined ? [] : [`paths ${paths.map(label).join(' ')}`]),
    ...(labels === undefined ? [] : [`labels ${labels.map(label).join(' ')}`]),
  ].join(', ');

/** How far a ticket may go that is opened for this: what is proposed beyond is cut. */
const grantText = (trigger: Trigger, { policy }: VersionedPolicy, ruleId: string | undefined): string => {
  const grant = grantFor(policy, askingOf(trigger, ruleId));
  if (grant === undefined) return 'comment';
  const repositories = grant.repositoryIds ?? (trigger.repositoryId === undefined ? [] : [trigger.repositoryId]);
  const where = repositories.length === 0 ? '' : ` in repository ${repositories.map(label).join(', ')}`;
  return `up to ${grant.maxVerb}${where}`;
};

const grantLines = (trigger: Trigger, policy: VersionedPolicy): readonly string[] =>
  trigger.gate.class === 'explicit'
    ? [`A ticket for it may be granted ${grantText(trigger, policy, undefined)}.`]
    : policy.policy.rules.map(
        ({ id }) => `By rule ${label(id)} a ticket may be granted ${grantText(trigger, policy, id)}.`,
      );

/** Only the beginning, without where it goes on: the id says where to read all of it. */
const beginning = (mark: string, text: string, most: number): string => excerpt(mark, text, 0, most)[0] ?? '';

/** Of a message that only stands around, no more is parsed than could be shown with much markup in it. */
const MARKUP = 10;

const aroundLines = ({ trigger, part }: Shown, mark: string): readonly string[] => {
  if (trigger.withdrawn === true) return [headOf(trigger), GONE];
  const most = LONGEST[part];
  return [headOf(trigger), beginning(mark, legible(trigger.text.slice(0, most * MARKUP)).text, most)];
};

const messageLines = (shown: Shown, { mark, policy }: PageOf): readonly string[] => {
  const { trigger, part } = shown;
  if (part !== 'asked') return aroundLines(shown, mark);
  return [
    `DECIDE ${headOf(trigger)}`,
    `It is ${trigger.gate.class}: ${trigger.gate.reason}`,
    ...grantLines(trigger, policy),
    ...bodyOf(mark, trigger, 0, LONGEST.asked),
  ];
};

export const ticketLines = (ticket: Ticket, thread: Thread, mark: string): readonly string[] => {
  const here = ticket.threads.some(({ threadId }) => threadId === thread.id) ? ', subscribes to this discussion' : '';
  const { report, mandate } = ticket;
  const said = report === undefined ? [] : [`last report: ${report.state} · ${time(report.at)}`, report.text];
  const text = [ticket.title, ...said].join('\n');
  return [
    `${ticket.id} · ${ticket.phase}${here} · mandate ${mandate.state}: ${scopeText(mandate)}`,
    beginning(mark, text, LONGEST_REPORT),
  ];
};

export const pageText = (page: PageOf): string => {
  const { thread, shown, more, tickets, mark } = page;
  const state = thread.subject === undefined ? '' : ` · ${thread.subject.state}`;
  return [
    `Discussion ${thread.id}${state}. Its title:`,
    beginning(mark, thread.title, LONGEST_TITLE),
    ...(more ? [`There are older messages than these; read ${thread.id} for all of them.`] : []),
    '',
    ...shown.flatMap((one) => [...messageLines(one, page), '']),
    tickets.length === 0 ? 'There is no open ticket about this.' : 'Tickets, and what they are at:',
    ...tickets.flatMap((ticket) => ticketLines(ticket, thread, mark)),
  ].join('\n');
};
