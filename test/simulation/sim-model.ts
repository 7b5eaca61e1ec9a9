import type { ModelClient, ModelOutcome, ModelRequest, ToolCall } from '../../lib/model/model.ts';
import type { Injector, Process } from './faults.ts';
import type { World } from './world.ts';

/** What the scripted model answers at its nth step; `undefined` past the end of the script means finish. */
export type Script = readonly (readonly (readonly [tool: string, args: { readonly [key: string]: unknown }])[])[];

export interface Purchase {
  readonly at: number;
  readonly process: Process;
  readonly messages: ModelRequest['messages'];
  readonly summary: boolean;
  /** Replies that its prompt showed. */
  readonly replies: number;
  /** When it was answered or hung up on; undefined while it is under way. */
  endedAt?: number | undefined;
  /** Micro-dollars the provider charges: one per token. */
  readonly cost: number;
}

export const TOKENS = { input: 100, output: 20 };
/** One micro-dollar a token, so that costs are easy to read. */
export const PRICE = { inputUsdPerM: 1, cachedUsdPerM: 1, outputUsdPerM: 1, contextTokens: 100_000 };

export const BUSY: Extract<ModelOutcome, { kind: 'retry' }> = {
  kind: 'retry',
  code: 'model_rate_limited',
  message: 'Too many requests.',
  retryAfterMs: 4_000,
  billed: false,
};

/** A model that goes by the conversation alone, as a real one does: how many replies it sees tells where it stands. */
export class SimModel {
  readonly purchases: Purchase[] = [];
  /** Passing troubles to answer with before the next reply. */
  readonly troubles: ModelOutcome[] = [];
  /** Answers every step with "too many requests" first. */
  busyOnce = false;
  /** What the provider counts for a call; without it each is of one size. */
  usageOf: (request: ModelRequest) => { readonly input: number; readonly output: number } = () => TOKENS;
  busyAnswers = 0;
  readonly #busyAt = new Set<number>();
  readonly #world: World;
  readonly #script: Script;
  readonly #latencyMs: number;
  readonly #answers: ((request: ModelRequest) => SimAnswer) | undefined;

  constructor(world: World, script: Script, latencyMs: number, answers?: (request: ModelRequest) => SimAnswer) {
    this.#answers = answers;
    this.#world = world;
    this.#script = script;
    this.#latencyMs = latencyMs;
  }

  for(process: Process, injector: Injector, onCall: (process: Process) => void): ModelClient {
    return {
      complete: async (request) => {
        onCall(process);
        const asked = { timedOut: false };
        const outcome = await injector
          .call(process, 'model', () => this.#answer(request, process))
          .catch((): ModelOutcome => {
            asked.timedOut = true;
            return { kind: 'retry', code: 'model_timeout', message: 'The model did not answer.', billed: true };
          });
        return request.signal.aborted ? { kind: 'aborted', billed: true } : outcome;
      },
    };
  }

  async #answer(request: ModelRequest, process: Process): Promise<ModelOutcome> {
    const trouble = this.troubles.shift();
    if (trouble !== undefined) {
      this.busyAnswers++;
      return trouble;
    }
    const summary = request.tools.length === 0 && request.responseSchema === undefined;
    const replies = repliesIn(request.messages);
    if (this.busyOnce && !this.#busyAt.has(replies)) {
      this.#busyAt.add(replies);
      this.busyAnswers++;
      return BUSY;
    }
    const { input, output } = this.usageOf(request);
    const purchase: Purchase = {
      at: this.#world.now,
      process,
      messages: request.messages,
      summary,
      replies,
      cost: input + output,
    };
    this.purchases.push(purchase);
    await this.#world.sleep(this.#latencyMs * (0.5 + this.#world.random()), request.signal);
    purchase.endedAt = this.#world.now;
    const usage = { input, output, cached: 0 };
    if (summary) return reply(`Notes: ${replies} replies so far.`, [], usage);
    if (this.#answers !== undefined) return answered(this.#answers(request), usage);
    const step = replies;
    const calls = this.#script[step] ?? [['finish', { result: `done after ${step} replies` }] as const];
    const toolCalls = calls.map(
      ([name, args], index): ToolCall => ({
        id: `call_${step}_${index}`,
        name,
        arguments: JSON.stringify(args),
      }),
    );
    return reply(`Step ${step}.`, toolCalls, usage);
  }
}

/** What a model says in a workflow: words, or calls by tool and arguments. */
export interface SimAnswer {
  readonly text?: string;
  readonly calls?: readonly (readonly [tool: string, args: { readonly [key: string]: unknown }])[];
}

const answered = ({ text = '', calls = [] }: SimAnswer, usage: Parameters<typeof reply>[2]): ModelOutcome =>
  reply(
    text,
    calls.map(([name, args], index) => ({ id: `call_${index}`, name, arguments: JSON.stringify(args) })),
    usage,
  );

const reply = (
  content: string,
  toolCalls: readonly ToolCall[],
  usage: { input: number; output: number; cached: number },
): ModelOutcome => ({
  kind: 'reply',
  content,
  toolCalls,
  finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
  refused: false,
  usage,
});

/** Replies that a prompt shows, those that its summary speaks of included. */
const repliesIn = (messages: ModelRequest['messages']): number => {
  let replies = 0;
  for (const message of messages) {
    if (message.role === 'assistant') replies++;
    else {
      const noted = /Notes: (\d+) replies so far/.exec(message.content);
      if (noted !== null) replies += Number(noted[1]);
      // A summary request quotes the record as text.
      if (message.role === 'user') replies += message.content.split('\nassistant: Step ').length - 1;
    }
  }
  return replies;
};
