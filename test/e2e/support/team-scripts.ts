/** What the models of a Router team say: a script is a function of the prompt, so that it has no memory that could be lost. */
import type { WireMessage } from './prompt-rules.ts';
import { type Reply, type Script, use } from './scripted-model.ts';

/** One message that the Eval is asked about: its id, and everything that the page says of it. */
export interface Asked {
  readonly triggerId: string;
  readonly text: string;
  /** Ids of the tickets that the page shows. */
  readonly tickets: readonly string[];
}

export const askedIn = (page: string): readonly Asked[] => {
  const tickets = [...page.matchAll(/^(tkt_\w+) · /gm)].map(([, id]) => id as string);
  return page
    .split(/^(?=DECIDE )/m)
    .slice(1)
    .map((text) => ({ triggerId: /^DECIDE (\S+)/.exec(text)?.[1] ?? '', text, tickets }));
};

/** An Eval that decides each message by what is given. */
export const decides =
  (decide: (asked: Asked) => object): Script =>
  ({ messages }) => {
    const page = messages.find(({ role }) => role === 'user')?.content ?? '';
    const decisions = askedIn(page).map((asked) => ({
      triggerId: asked.triggerId,
      ticketId: null,
      ruleId: null,
      reason: 'As the script says.',
      title: null,
      reply: null,
      mandate: null,
      ...decide(asked),
    }));
    return { text: JSON.stringify({ decisions }) };
  };

/** Where a worker stands: the last message that it was given, which one it is, and its own steps since then. */
export interface Turn {
  readonly n: number;
  readonly said: string;
  readonly step: number;
  /** What the last tool has answered; `undefined` at the beginning of the turn. */
  readonly outcome: string | undefined;
}

const FROM_THREAD = / in thr_\w+, trg_\w+/;

export const turnOf = (messages: readonly WireMessage[]): Turn => {
  const given = messages.flatMap(({ role, content }, index) =>
    role === 'user' && FROM_THREAD.test(content ?? '') ? [index] : [],
  );
  const last = given.at(-1) ?? 0;
  const since = messages.slice(last + 1);
  const outcome = since.findLast(({ role }) => role === 'tool')?.content ?? undefined;
  return {
    n: given.length,
    said: messages[last]?.content ?? '',
    step: since.filter(({ role }) => role === 'assistant').length,
    outcome,
  };
};

export const works =
  (turn: (turn: Turn) => Reply): Script =>
  ({ messages }) =>
    turn(turnOf(messages));

export const reply = (content: string): Reply => use('reply', { content });
export const report = (state: string, text: string, on?: 'person' | 'event'): Reply =>
  use('report', { state, text, ...(on !== undefined && { on }) });
