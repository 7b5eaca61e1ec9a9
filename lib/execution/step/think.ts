import type { ModelOutcome, ToolCall } from '../../model/model.ts';
import { REPLY_N, type ReplyRow, type UserRow } from '../feed.ts';
import { type Call, receipt, replyBlobKey, type Spent, storeReply } from './buy.ts';
import type { StepDeps } from './deps.ts';
import type { Window } from './load.ts';
import { inputText, spokenInputs } from './prompt.ts';

/** Arguments above this many characters are kept whole in the bucket and cut in the row: a row must stay small. */
const INLINE_ARGUMENT = 8_000;
const INLINE_CONTENT = 100_000;
/** Bytes of content and arguments in the row together. It holds 400 KB; ids, names and figures need the rest. */
const INLINE_BYTES = 280_000;
/** Most bytes of UTF-8 that one character (UTF-16 unit) takes. */
const WIDEST = 3;

const cutStrings = (value: unknown): unknown => {
  if (typeof value === 'string') {
    return value.length > 1_000 ? `${value.slice(0, 500)} … [${value.length} characters, cut here]` : value;
  }
  if (Array.isArray(value)) return value.slice(0, 100).map(cutStrings);
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cutStrings(inner)]));
  }
  return value;
};

/** Still JSON where it was JSON: the provider wants to see its own calls again. */
const cutArguments = (text: string, most: number): string => {
  if (text.length <= most) return text;
  try {
    const short = JSON.stringify(cutStrings(JSON.parse(text)));
    if (short.length <= most) return short;
  } catch {
    // Not JSON: the model will be told so; an excerpt is enough.
  }
  return JSON.stringify({ excerpt: text.slice(0, Math.floor(most / 8)), characters: text.length });
};

interface Words {
  readonly content: string;
  readonly calls: readonly ToolCall[];
}

/** What the row holds of a reply: all of it, mostly. */
export const fitted = (whole: Words): Words => {
  const cutContent = whole.content.slice(0, INLINE_CONTENT);
  const most = Math.floor(INLINE_BYTES / WIDEST);
  const content = Buffer.byteLength(cutContent) > INLINE_BYTES * 0.9 ? cutContent.slice(0, most * 0.9) : cutContent;
  const left = INLINE_BYTES - Buffer.byteLength(content);
  const cut = (limit: number): readonly ToolCall[] =>
    whole.calls.map((call) => ({ ...call, arguments: cutArguments(call.arguments, limit) }));
  const calls = cut(INLINE_ARGUMENT);
  const bytes = calls.reduce((sum, call) => sum + Buffer.byteLength(call.arguments), 0);
  return { content, calls: bytes <= left ? calls : cut(Math.floor(left / WIDEST / calls.length)) };
};

const isWhole = (row: Words, whole: Words): boolean =>
  row.content === whole.content && row.calls.every((call, index) => call.arguments === whole.calls[index]?.arguments);

/** Stores the model's reply of one step, with the people's messages that its prompt contained. */
export const storeStepReply = async (
  deps: StepDeps,
  call: Call,
  window: Window,
  outcome: Extract<ModelOutcome, { kind: 'reply' }>,
  owner: string,
  times: { readonly claimedAt: number; readonly askedAt: number },
  workflow: Pick<ReplyRow, 'place' | 'aside'> = {},
): Promise<{ readonly row: ReplyRow; readonly spent: Spent; readonly calls: readonly ToolCall[] }> => {
  const { execution } = call;
  const now = deps.clock.now();
  const whole: Words = { content: outcome.content, calls: outcome.toolCalls };
  const inline = fitted(whole);
  let blob: string | undefined;
  if (!isWhole(inline, whole)) {
    blob = replyBlobKey(execution, owner);
    await deps.blobs.put(blob, new TextEncoder().encode(JSON.stringify(whole)), 'application/json');
  }
  const last = window.inputs.at(-1);
  const row: Omit<ReplyRow, 'v'> = {
    kind: 'reply',
    seq: execution.seq,
    n: REPLY_N,
    at: now,
    content: inline.content,
    calls: inline.calls.map(({ id, name, arguments: text }) => ({ id, name, arguments: text })),
    ...(outcome.refused && { refused: true }),
    ...(blob !== undefined && { blob }),
    inputs: last?.number ?? execution.consumed,
    waking: last?.waking ?? execution.wakingInputs,
    ...workflow,
    ...receipt(call, outcome, owner, times.claimedAt, times.askedAt),
  };
  const users = spokenInputs(window.inputs).map(
    (input, index): Omit<UserRow, 'v'> => ({
      kind: 'user',
      seq: execution.seq,
      n: index,
      at: input.at,
      content: inputText(input),
      origin: input.origin,
    }),
  );
  const stored = await storeReply<ReplyRow>(deps, execution, row, users);
  if (stored.row.kind !== 'reply')
    throw new Error(`Step ${execution.seq} holds a ${stored.row.kind} where a reply belongs.`);
  return {
    row: stored.row,
    spent: stored.spent,
    calls: stored.row.buyer === owner ? outcome.toolCalls : await wholeCalls(deps, stored.row),
  };
};

/** A reply as the model gave it, from the bucket where the row holds it cut. */
const wholeReply = async (deps: StepDeps, row: ReplyRow): Promise<Words> => {
  if (row.blob === undefined) return row;
  const bytes = await deps.blobs.get(row.blob);
  if (bytes === undefined) throw new Error(`The reply of step ${row.seq} was set aside and is missing.`);
  return JSON.parse(new TextDecoder().decode(bytes)) as Words;
};

export const wholeCalls = async (deps: StepDeps, row: ReplyRow): Promise<readonly ToolCall[]> =>
  (await wholeReply(deps, row)).calls;

export const wholeContent = async (deps: StepDeps, row: ReplyRow): Promise<string> =>
  (await wholeReply(deps, row)).content;
