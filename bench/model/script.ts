/** What the scripted model answers: everything follows from the request, but for the count of a run's steps. */

/** Written into the goals of an agent, so that one server can play for many runs. */
export interface Script {
  /** Name of the run; no two runs of a bench share one. */
  readonly run: string;
  /** After so many steps the run is finished. */
  readonly steps: number;
  /** Tool calls of one step. */
  readonly calls: number;
  /** A POST to this address in step `POST_STEP` in place of a thought. */
  readonly post?: string;
  /** Several runs follow it, so that a step is counted by its own prompt and not by the requests of the name. */
  readonly shared?: boolean;
  /** Every step waits in place of its calls: so many seconds, or until a time (ISO 8601). */
  readonly wait?: number | string;
  /** Tasks to name where the workflow asks for a list of them. */
  readonly tasks?: number;
}

/** One call of the model, as the server keeps it. Times in ms since the epoch, with fractions. */
export interface ModelCall {
  readonly run: string;
  readonly at: number;
  /** Step of the run, from 1; a summary has none. */
  readonly step: number | undefined;
  /** Characters of all messages and tool arguments in the prompt. */
  readonly windowChars: number;
}

export interface Message {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[];
}

export interface ChatRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly unknown[];
  /** The reply must have a form: a workflow asks for tasks. */
  readonly response_format?: { readonly json_schema?: { readonly name: string } };
}

/** The one step of a run with a `post` that has it. */
export const POST_STEP = 2;
/** Characters that the calls of one step bring into the feed together; what is left of a KB is content and outcome. */
export const STEP_CHARS = 1_000;
const SUMMARY_CHARS = 3_000;
const MARK = /\[\[bench (\{.*?\})\]\]/;

export const goalOf = (script: Script): string => `Do as the script says. [[bench ${JSON.stringify(script)}]]`;

/** @throws Error when the prompt names no script */
export const scriptOf = (request: ChatRequest): Script => {
  for (const { content } of request.messages) {
    const found = MARK.exec(content ?? '')?.[1];
    if (found !== undefined) return JSON.parse(found) as Script;
  }
  throw new Error('The prompt names no script of the bench.');
};

export const asksForTasks = ({ response_format: form }: ChatRequest): boolean => form?.json_schema?.name === 'tasks';

export const isSummary = (request: ChatRequest): boolean =>
  (request.tools ?? []).length === 0 && !asksForTasks(request);

export const windowChars = ({ messages }: ChatRequest): number =>
  messages.reduce(
    (sum, message) =>
      sum +
      (message.content ?? '').length +
      (message.tool_calls ?? []).reduce((calls, call) => calls + call.function.arguments.length, 0),
    0,
  );

/** Replies in the prompt: the step of a run whose window has never been cut. */
export const repliesIn = ({ messages }: ChatRequest): number =>
  messages.filter(({ role }) => role === 'assistant').length;

/** Whether the prompt alone tells the step: it holds what was committed, and the requests of other runs do not count. */
export const isCountedByPrompt = ({ post, shared }: Script): boolean => post !== undefined || shared === true;

interface Reply {
  readonly content: string;
  readonly calls: readonly { readonly name: string; readonly args: { readonly [name: string]: string | number } }[];
}

export const tasksReply = ({ tasks = 0 }: Script): Reply => ({
  content: JSON.stringify({ tasks: Array.from({ length: tasks }, (_, index) => `Task ${index + 1}.`) }),
  calls: [],
});

/** @param text makes so many characters that no compression shortens and no two calls share */
export const replyTo = (script: Script, step: number | undefined, text: (chars: number) => string): Reply => {
  if (step === undefined) return { content: text(SUMMARY_CHARS), calls: [] };
  if (step > script.steps) return { content: 'Done.', calls: [{ name: 'finish', args: { result: 'done' } }] };
  if (script.post !== undefined && step === POST_STEP) {
    const body = JSON.stringify({ effect: `${script.run}/${step}` });
    return {
      content: 'One effect.',
      calls: [{ name: 'http_request', args: { method: 'POST', url: script.post, body } }],
    };
  }
  if (script.wait !== undefined) {
    const args = typeof script.wait === 'number' ? { seconds: script.wait } : { until: script.wait };
    // As long as a step without a wait, so that the two can be compared.
    return { content: text(STEP_CHARS), calls: [{ name: 'wait', args }] };
  }
  const chars = Math.floor(STEP_CHARS / script.calls);
  const calls = Array.from({ length: script.calls }, () => ({ name: 'think', args: { thought: text(chars) } }));
  return { content: `Step ${step}.`, calls };
};
