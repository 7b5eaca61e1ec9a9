/** What the rehearsal model reads of a Chat Completions request. Written for this server alone: it trusts nothing it gets. */

export interface WireCall {
  readonly id: string;
  readonly name: string;
  readonly args: { readonly [name: string]: unknown };
}

export interface WireMessage {
  readonly role: string;
  readonly content: string;
  readonly calls: readonly WireCall[];
  readonly callId: string;
}

export interface Conversation {
  readonly messages: readonly WireMessage[];
  /** Names of the tools offered. */
  readonly tools: readonly string[];
  /** JSON Schema of the reply, where one is demanded. */
  readonly form?: { readonly [name: string]: unknown };
}

/** What a call did, as far as its answer in the conversation tells. */
export interface Event {
  readonly name: string;
  /** The file it was about; '' where there is none. */
  readonly path: string;
  /** False when the answer says that nothing came of it, or that nobody knows. */
  readonly ok: boolean;
  /** True when nobody knows whether it happened. */
  readonly doubtful: boolean;
  readonly answer: string;
}

const isRecord = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  return value.map((part) => (isRecord(part) && typeof part.text === 'string' ? part.text : '')).join('');
};

const argumentsOf = (value: unknown): WireCall['args'] => {
  if (typeof value !== 'string') return {};
  try {
    const parsed: unknown = JSON.parse(value);
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {};
  }
};

const callOf = (value: unknown): WireCall | undefined => {
  if (!isRecord(value) || typeof value.id !== 'string' || !isRecord(value.function)) return undefined;
  const { name } = value.function;
  return typeof name === 'string' ? { id: value.id, name, args: argumentsOf(value.function.arguments) } : undefined;
};

const formIn = (value: unknown): Conversation['form'] => {
  const wrapped = isRecord(value) ? value.json_schema : undefined;
  return isRecord(wrapped) && isRecord(wrapped.schema) ? wrapped.schema : undefined;
};

/** @returns `undefined` when the body is no Chat Completions request */
export const readConversation = (body: unknown): Conversation | undefined => {
  if (!isRecord(body) || !Array.isArray(body.messages)) return undefined;
  const messages = body.messages.filter(isRecord).map((message) => ({
    role: typeof message.role === 'string' ? message.role : '',
    content: textOf(message.content),
    calls: (Array.isArray(message.tool_calls) ? message.tool_calls : []).flatMap((call) => callOf(call) ?? []),
    callId: typeof message.tool_call_id === 'string' ? message.tool_call_id : '',
  }));
  const tools = (Array.isArray(body.tools) ? body.tools : []).flatMap((tool) =>
    isRecord(tool) && isRecord(tool.function) && typeof tool.function.name === 'string' ? [tool.function.name] : [],
  );
  const form = formIn(body.response_format);
  return { messages, tools, ...(form !== undefined && { form }) };
};

const NOTHING_CAME =
  /^(?:there is no |the arguments of |the path |the request failed|not carried out|error\b)|is not a text file|permission denied|was not run/i;
const DOUBTFUL = /^the outcome of .{0,80} is unknown|outcome unknown/i;

/** The answered calls, in the order of their answers. */
export const eventsOf = (conversation: Conversation): readonly Event[] => {
  const calls = new Map(conversation.messages.flatMap((message) => message.calls.map((call) => [call.id, call])));
  return conversation.messages.flatMap((message) => {
    const call = message.role === 'tool' ? calls.get(message.callId) : undefined;
    if (call === undefined) return [];
    const path = typeof call.args.path === 'string' ? call.args.path : '';
    const answer = message.content;
    const doubtful = DOUBTFUL.test(answer);
    return [{ name: call.name, path, ok: !doubtful && !NOTHING_CAME.test(answer), doubtful, answer }];
  });
};

/** The text of a file out of an answer of `read_file`: without the line in brackets that says which part it is. */
export const fileText = (answer: string): string => answer.replace(/^\[[^\n]*\](?:\n|$)/, '');

/** The paths in an answer of `list_files`, one a line: `- figures/north.csv (52 bytes)`. */
export const listedPaths = (answer: string): readonly string[] =>
  [...answer.matchAll(/^[-*]\s+(.+?)\s+\(\d+ bytes?\)/gm)].map((match) => match[1] ?? '');
