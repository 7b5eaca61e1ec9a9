/** A message as a worker reads it. Whose words are an instruction is decided here, by code, from what the Gate says. */
import { shorten } from '../points.ts';
import { actorOf } from '../thread/deliver.ts';
import { happenedAt } from '../thread/route.ts';
import type { Trigger } from '../thread/trigger.ts';
import { framed, newMark } from '../untrusted/frame.ts';
import { legible } from '../untrusted/legible.ts';

/** What is given to a ticket; the rest is the ticket's business. */
export interface Message {
  readonly kind: string;
  /** Who speaks, for the feed. */
  readonly origin: string;
  readonly trust: 'explicit' | 'data';
  /** It begins a turn, and holds back the end of one. */
  readonly wake: boolean;
  /** A person's words: they may take the extra place, go before other work, and revive a ticket that has ended. */
  readonly human: boolean;
  readonly text: string;
  /** What makes it the same message when it is given again. */
  readonly cause: string;
  /** Where an answer to it goes: `<thread id> <trigger id>`. Missing: nowhere. */
  readonly replyTo?: string | undefined;
  /** When it was said, ms since the epoch. */
  readonly at: number;
}

export const replyToOf = ({ threadId, id }: Pick<Trigger, 'threadId' | 'id'>): string => `${threadId} ${id}`;

/** @returns `undefined` for what is no such address */
export const parseReplyTo = (text: string): { readonly threadId: string; readonly triggerId: string } | undefined => {
  const [threadId, triggerId, rest] = text.split(' ');
  return threadId !== undefined && triggerId !== undefined && rest === undefined ? { threadId, triggerId } : undefined;
};

/** Code points of one message that stand in the run; the rest is read by its id. */
const MOST_TEXT = 8_000;

/** Who is anybody's word where a channel lets them choose it: nothing but a name is left of it. */
const bare = (name: string): string => name.replace(/[^\w.:@[\]-]/g, '_').slice(0, 100);

const nameOf = ({ actor }: Trigger): string => bare(actor.login ?? actor.id);

const cut = (text: string, id: string): string => {
  const short = shorten(text, MOST_TEXT);
  return short === text ? text : `${short}\n[Read on with read, id ${id}.]`;
};

const spokenBy = (trigger: Trigger, explicit: boolean): string => {
  const { text, hidden } = legible(trigger.text);
  const shown = cut(text, trigger.id);
  const note = hidden ? '\n[Parts that nobody can see were left out.]' : '';
  if (explicit) return `${shown}${note}`;
  const facts = { id: trigger.id, kind: trigger.kind, by: nameOf(trigger), type: trigger.actor.type };
  return `${framed(newMark(), shown, facts)}${note}`;
};

/** Events of machines that a worker waits for: what a check says of its own work. Words of strangers are never among them. */
const WAITED_FOR: readonly string[] = ['check', 'status', 'workflow'];

export const isWaitedFor = ({ kind, actor }: Pick<Trigger, 'kind' | 'actor'>): boolean =>
  WAITED_FOR.includes(kind) && actor.type !== 'user';

/**
 * @param explicit whether a listed person speaks here, by the Gate as it judges with the mention taken for granted
 * @param as `ask`: it is what the ticket is opened for, and says so (router-bugs E48)
 */
export const messageOf = (trigger: Trigger, explicit: boolean, as: 'ask' | 'message'): Message => {
  const who = `${nameOf(trigger)} in ${trigger.threadId}, ${trigger.id}`;
  const edited = trigger.revision > 1 ? ', edited' : '';
  const head =
    as === 'ask'
      ? `This is what you are asked (${who}${edited}). Everything else in the discussion is background:`
      : `${who}${edited}:`;
  return {
    kind: as,
    origin: bare(actorOf(trigger)),
    trust: explicit ? 'explicit' : 'data',
    wake: as === 'ask' || explicit || isWaitedFor(trigger),
    human: explicit,
    text: `${head}\n${spokenBy(trigger, explicit)}`,
    cause: `trigger ${trigger.id} ${trigger.revision}`,
    replyTo: replyToOf(trigger),
    at: happenedAt(trigger),
  };
};

/** Its author has deleted it (router-bugs C36). */
export const withdrawnOf = (trigger: Trigger): Message => ({
  kind: 'withdrawn',
  origin: 'host',
  // The host's own words, and no instruction of anybody.
  trust: 'explicit',
  wake: false,
  human: false,
  text: `The message ${trigger.id} was deleted by its author. What it asked for is not asked any more.`,
  cause: `withdrawn ${trigger.id}`,
  at: happenedAt(trigger),
});
