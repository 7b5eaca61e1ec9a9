/** What providers of Chat Completions demand of a conversation; the first thing that does not fit, in words. */
export interface WireMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

const isObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};

export const promptProblem = (messages: readonly WireMessage[]): string | undefined => {
  if (messages[0]?.role !== 'system') return 'it does not begin with a system message';
  let open: string[] = [];
  for (const [at, message] of messages.entries()) {
    const where = `message ${at} (${message.role})`;
    if (message.role === 'tool') {
      const wanted = open.shift();
      if (wanted === undefined) return `${where} answers ${message.tool_call_id}, which nobody asked just before`;
      if (message.tool_call_id !== wanted)
        return `${where} answers ${message.tool_call_id} where ${wanted} was to come`;
      if (typeof message.content !== 'string') return `${where} has no text`;
      continue;
    }
    if (open.length > 0) return `${where} comes while ${open.join(', ')} is not answered`;
    if (message.role === 'system' && at > 0) return `${where} is a second system message`;
    if (message.role === 'user' && !message.content) return `${where} is empty`;
    if (message.role !== 'assistant') continue;
    const calls = message.tool_calls ?? [];
    if (message.tool_calls?.length === 0) return `${where} has an empty list of calls`;
    if (calls.length === 0 && message.content === null) return `${where} says nothing and calls nothing`;
    open = calls.map(({ id }) => id);
    if (new Set(open).size !== open.length) return `${where} uses an id twice: ${open.join(', ')}`;
    for (const { function: fn, id } of calls) {
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(fn.name)) return `call ${id} has the name ${JSON.stringify(fn.name)}`;
      if (!isObject(fn.arguments))
        return `call ${id} has arguments that are no JSON object: ${fn.arguments.slice(0, 80)}`;
    }
  }
  if (open.length > 0) return `the calls ${open.join(', ')} at the end are not answered`;
  if (messages.at(-1)?.role === 'assistant') return 'the last message is the assistant’s own';
  return undefined;
};
