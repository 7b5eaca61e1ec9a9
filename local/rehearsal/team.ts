import { type Conversation, eventsOf } from './conversation.ts';
import type { Reply } from './plan.ts';

/**
 * What the rehearsal model says as Router and as Worker of the team. Plain rules on the words of the request: it opens a
 * ticket for whatever a listed person asks, and does nothing in it but say so.
 */

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/\p{L}{5,}/gu) ?? [];

interface Rule {
  readonly id: string;
  readonly text: string;
}

/** `- id: text` below the heading of the prompt. */
const rulesIn = (prompt: string): readonly Rule[] => {
  const block = prompt.split('Rules of the team:\n')[1]?.split('\n\n')[0] ?? '';
  return [...block.matchAll(/^- ([^:\n]+): (.*)$/gm)].map(([, id = '', text = '']) => ({ id, text }));
};

/** A rule applies where it shares a longer word with the message. */
const applies = (message: string, { text }: Rule): boolean => {
  const said = new Set(wordsOf(message));
  return wordsOf(text).some((word) => said.has(word));
};

/** Lines of a message in its frame. */
const linesIn = (part: string): readonly string[] => /⟦[^\n]*\n([\s\S]*?)\n[^\n]*⟧/.exec(part)?.[1]?.split('\n') ?? [];

const decisionOn = (part: string, rules: readonly Rule[]): { readonly [member: string]: unknown } => {
  const triggerId = /^(trg_\w+)/.exec(part)?.[1];
  const said = linesIn(part);
  const rule = rules.find((one) => applies(said.join('\n'), one));
  const common = { triggerId, ticketId: null, ruleId: rule?.id ?? null, title: null, reply: null, mandate: null };
  const accept = { ...common, decision: 'accept', title: (said[0] ?? '').slice(0, 80) || '(rehearsal)' };
  if (/^It is explicit:/m.test(part)) return { ...accept, reason: '(rehearsal) A listed person asks for it.' };
  if (rule !== undefined) return { ...accept, reason: `(rehearsal) The rule ${rule.id} has a word of it.` };
  return { ...common, decision: 'ignore', reason: '(rehearsal) Nobody listed asks, and no rule has a word of it.' };
};

export const isAssessment = ({ form }: Conversation): boolean =>
  typeof form?.properties === 'object' && form.properties !== null && 'decisions' in form.properties;

/** The decisions about a page. */
export const judgePage = ({ messages }: Conversation): string => {
  const rules = rulesIn(messages.find(({ role }) => role === 'system')?.content ?? '');
  const page = messages.find(({ role }) => role === 'user')?.content ?? '';
  const parts = page.split(/^DECIDE /m).slice(1);
  return JSON.stringify({ decisions: parts.map((part) => decisionOn(part, rules)) });
};

export const isWorker = ({ tools }: Conversation): boolean => tools.includes('reply') && tools.includes('report');

/** One turn: it answers and asks for a look; what was approved is at its end. */
export const workTurn = (conversation: Conversation): Reply => {
  const asked = conversation.messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const words = asked.slice(asked.indexOf('\n') + 1).split('\n')[0] ?? '';
  const failed = eventsOf(conversation)
    .slice(-3)
    .filter(({ ok }) => !ok).length;
  const report = (state: string, text: string) => ({ name: 'report', args: { state, text: `(rehearsal) ${text}` } });
  if (failed === 3) return { content: '(rehearsal) The calls fail.', calls: [report('failed', 'Its calls failed.')] };
  if (/\bapproved\b/i.test(asked)) {
    return { content: '(rehearsal) That was all.', calls: [report('dropped', 'Nothing is left to do.')] };
  }
  const content = `(rehearsal) You asked: ${words.slice(0, 300)} A real model would do it; this one only says so.`;
  const calls = [{ name: 'reply', args: { content } }, report('ready', 'It was answered. Have a look.')];
  return { content: '(rehearsal) An answer, and a report.', calls };
};
