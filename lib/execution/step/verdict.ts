import { createHash } from 'node:crypto';
import type { Execution } from '../execution.ts';
import type { ReplyRow } from '../feed.ts';

/** What a reply means, before any of its calls is looked at. Pure. */
export type Verdict =
  | { readonly kind: 'act' }
  /** A reply without a tool call ends the run with its text. */
  | { readonly kind: 'final'; readonly result: string }
  /** Not usable as it is: the model is told and goes on. */
  | { readonly kind: 'note'; readonly code: string; readonly text: string }
  /** A person has to look; `text` is what the model is told when they let it go on. */
  | { readonly kind: 'error'; readonly code: string; readonly message: string; readonly text: string };

export const judgeReply = (reply: Pick<ReplyRow, 'content' | 'calls' | 'finish' | 'refused'>): Verdict => {
  if (reply.refused === true && reply.calls.length === 0) {
    const text =
      'You refused, and a person has let the run go on. Do what can be done, or finish and say what cannot be done.';
    const message = `The model refused: ${reply.content.slice(0, 500)}`;
    return { kind: 'error', code: 'model_refused', message, text };
  }
  if (reply.calls.length > 0) return { kind: 'act' };
  if (reply.finish === 'content_filter') {
    const text =
      "The provider's content filter cut your last reply. Put it differently, or finish and say what is blocked.";
    return { kind: 'note', code: 'content_filter', text };
  }
  if (reply.finish === 'length') {
    const text =
      'Your last reply reached the token limit and was cut off. Go on in smaller pieces; write long text to files.';
    return { kind: 'note', code: 'reply_cut_off', text };
  }
  if (reply.content.trim() === '') {
    const text = 'Your last reply was empty. Call a tool, or call finish with the result.';
    return { kind: 'note', code: 'empty_reply', text };
  }
  return { kind: 'final', result: reply.content };
};

export interface Repeats {
  readonly hash: string;
  readonly count: number;
}

/** Counts identical calls (same tool, same arguments) in a row, over steps and within one; an unusable reply counts as one. */
export const countRepeats = (
  execution: Pick<Execution, 'repeatHash' | 'repeatCount'>,
  reply: Pick<ReplyRow, 'calls'>,
  verdict: Verdict,
): Repeats => {
  const names =
    verdict.kind === 'note' ? [`note ${verdict.code}`] : reply.calls.map((call) => `${call.name} ${call.arguments}`);
  let hash = execution.repeatHash ?? '';
  let count = execution.repeatCount;
  for (const name of names) {
    const next = createHash('sha256').update(name).digest('base64url').slice(0, 16);
    count = next === hash ? count + 1 : 1;
    hash = next;
  }
  return { hash, count };
};
