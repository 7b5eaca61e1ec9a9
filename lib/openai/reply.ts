import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { ModelOutcome, ModelRequest, ModelUsage, ToolCall } from '../model/model.ts';
import { estimatePrompt, estimateTokens } from '../model/tokens.ts';

/** Only what is used, and lenient in what compatible servers leave out or spell differently. */
const text = z.string().nullish().catch(null);
/** No call takes more: a number beyond is garbage, and would not fit into the sums of a run. */
const tokens = z.number().nonnegative().max(1_000_000_000);
const count = tokens.nullish().catch(null);

const content = z
  .union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))])
  .nullish()
  .catch(null);

const completion = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: text,
        message: z.object({
          content,
          refusal: text,
          tool_calls: z.array(z.unknown()).nullish().catch(null),
        }),
      }),
    )
    .min(1),
  usage: z
    .object({
      prompt_tokens: tokens,
      completion_tokens: tokens,
      prompt_tokens_details: z.object({ cached_tokens: count }).nullish().catch(null),
      // DeepSeek's name for the same number.
      prompt_cache_hit_tokens: count,
    })
    .nullish()
    .catch(null),
});

/** `type` is left out by some servers; any other than `function` is a kind of call that was never offered. */
const functionCall = z.object({
  id: text,
  type: z.literal('function').nullish(),
  function: z.object({ name: z.string().catch(''), arguments: z.unknown() }),
});

/** @returns `undefined` when the body is no completion */
export const toReply = (body: unknown, request: ModelRequest): ModelOutcome | undefined => {
  const parsed = completion.safeParse(body);
  const choice = parsed.data?.choices[0];
  if (parsed.data === undefined || choice === undefined) return undefined;
  const { message } = choice;
  const written = toText(message.content);
  const refusal = message.refusal ?? '';
  const toolCalls = toToolCalls(message.tool_calls ?? []);
  return {
    kind: 'reply',
    content: refusal === '' ? written : refusal,
    toolCalls,
    finishReason: (choice.finish_reason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop')).slice(0, LONGEST_REASON),
    refused: refusal !== '',
    usage: toUsage(parsed.data.usage, request, written + refusal, toolCalls),
  };
};

const toText = (value: z.infer<typeof content>): string =>
  typeof value === 'string' ? value : (value ?? []).map((part) => part.text ?? '').join('');

/** A reply has to fit into rows, whatever a server makes of it. Calls beyond the most are not even looked at. */
const LONGEST_REASON = 100;
const MOST_CALLS = 256;
/** Providers take no name beyond 64 characters. */
const LONGEST_NAME = 64;
/** Characters of all ids of a reply together. Some gateways put a signature of kilobytes into an id and want it back. */
const ID_ROOM = 50_000;

/**
 * Ids are made where they are missing, used twice or no plain text: every answer must name exactly one call, also after
 * the table has held it.
 */
const toToolCalls = (calls: readonly unknown[]): ToolCall[] => {
  const seen = new Set<string>();
  const kept: ToolCall[] = [];
  let room = ID_ROOM;
  for (const call of calls.slice(0, MOST_CALLS)) {
    const { data } = functionCall.safeParse(call);
    if (data === undefined) continue;
    const own = data.id ?? '';
    const usable = /^[\x21-\x7e]+$/.test(own) && own.length <= room && !seen.has(own);
    const id = usable ? own : `call_${randomBytes(12).toString('hex')}`;
    room -= usable ? own.length : 0;
    seen.add(id);
    const name = data.function.name.slice(0, LONGEST_NAME);
    kept.push({ id, name, arguments: toArguments(data.function.arguments) });
  }
  return kept;
};

/** Ollama and others send the arguments as an object instead of its text. */
const toArguments = (value: unknown): string => {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
};

const toUsage = (
  usage: z.infer<typeof completion>['usage'],
  request: ModelRequest,
  written: string,
  toolCalls: readonly ToolCall[],
): ModelUsage => {
  if (usage === null || usage === undefined) {
    const calls = toolCalls.map((call) => call.name + call.arguments).join('');
    return {
      input: estimatePrompt(request.messages, request.tools),
      output: estimateTokens(written + calls),
      cached: 0,
      estimated: true,
    };
  }
  const input = Math.round(usage.prompt_tokens);
  const cached = Math.round(usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? 0);
  return { input, output: Math.round(usage.completion_tokens), cached: Math.min(cached, input) };
};
