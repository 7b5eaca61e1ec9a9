import type OpenAI from 'openai';
import type { ChatMessage, ModelRequest, ResponseSchema, ToolSpec } from '../model/model.ts';
import type { Dialect } from './dialect.ts';

type WireMessage = OpenAI.Chat.ChatCompletionMessageParam;

/** The two spellings of "so many tokens of reply at most". */
export type TokenLimitField = 'max_tokens' | 'max_completion_tokens';

/**
 * OpenAI's own models from o1 on refuse `max_tokens` ("Unsupported parameter … Use 'max_completion_tokens' instead"), and
 * the openai package marks it deprecated. Many compatible servers (DeepSeek, llama.cpp, older vLLM) know only `max_tokens`
 * and ignore or refuse the other. So it goes by the host; a refusal that names the field corrects the guess once
 * (`lib/openai/model-client.ts`), for gateways that hide an OpenAI model behind another host.
 */
export const tokenLimitField = (baseUrl: string): TokenLimitField => {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  const openAi = host === 'api.openai.com' || host.endsWith('.api.openai.com') || host.endsWith('.openai.azure.com');
  return openAi ? 'max_completion_tokens' : 'max_tokens';
};

const ALL_DEMANDS = { toolChoice: true, responseSchema: true, maxItems: true } as const;

/** @param demands what the server is known to take; without it everything that the request demands is sent */
export const toWireBody = (
  request: ModelRequest,
  limitField: TokenLimitField,
  demands: Pick<Dialect, 'toolChoice' | 'responseSchema' | 'maxItems'> = ALL_DEMANDS,
): OpenAI.Chat.ChatCompletionCreateParamsNonStreaming => ({
  model: request.model,
  messages: request.messages.map(toWireMessage),
  ...(request.tools.length > 0 ? { tools: request.tools.map(toWireTool) } : {}),
  ...(request.tools.length > 0 && demands.toolChoice && request.toolChoice !== undefined
    ? { tool_choice: request.toolChoice }
    : {}),
  ...(demands.responseSchema && request.responseSchema !== undefined
    ? {
        response_format: {
          type: 'json_schema',
          json_schema: { ...toWireSchema(request.responseSchema, demands.maxItems), strict: true },
        },
      }
    : {}),
  [limitField]: request.maxReplyTokens,
  ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
});

const toWireSchema = ({ name, schema }: ResponseSchema, maxItems: boolean) => ({
  name,
  schema: maxItems ? { ...schema } : withoutMaxItems(schema),
});

const withoutMaxItems = (schema: { readonly [key: string]: unknown }): { [key: string]: unknown } =>
  JSON.parse(JSON.stringify(schema, (key, value: unknown) => (key === 'maxItems' ? undefined : value)));

const toWireTool = (tool: ToolSpec): OpenAI.Chat.ChatCompletionTool => ({
  type: 'function',
  function: { name: tool.name, description: tool.description, parameters: { ...tool.parameters } },
});

const toWireMessage = (message: ChatMessage): WireMessage => {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    case 'assistant': {
      const calls = message.toolCalls ?? [];
      if (calls.length === 0) return { role: 'assistant', content: message.content };
      return {
        role: 'assistant',
        content: message.content === '' ? null : message.content,
        tool_calls: calls.map((call) => ({
          id: call.id,
          type: 'function',
          function: { name: wireName(call.name), arguments: wireArguments(call.arguments) },
        })),
      };
    }
  }
};

/** A name that a model made up goes back in a form that providers take (`^[a-zA-Z0-9_-]{1,64}$`), or every later call fails. */
const wireName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';

/** Malformed arguments likewise: several servers parse the history and answer 400 to what their own model wrote. */
const wireArguments = (text: string): string => {
  if (text.trim() === '') return '{}';
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : JSON.stringify({ value });
  } catch {
    return JSON.stringify({ malformed: text });
  }
};
