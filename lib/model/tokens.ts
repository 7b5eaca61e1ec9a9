/**
 * A stated estimate of tokens, used where no provider has counted yet: to fit a prompt into its window, and for providers
 * that send no usage. It is not a tokenizer: those differ by model and weigh megabytes in a bundle.
 *
 * Four ASCII characters a token is the rule of thumb the providers themselves give for English text; code points outside
 * ASCII are counted one each, which is near the truth for Chinese and Japanese and too high for accented Latin text.
 * Too high is the safe side: a window that is a little too small. Digits, code and emoji are more tokens than that, so money
 * is not reserved by it but by `mostPromptTokens`.
 */
import type { ChatMessage, ModelRequest, ToolSpec } from './model.ts';

/** Role, separators and ids of one message on the wire. */
const PER_MESSAGE = 4;

/** @returns whole tokens, 0 for the empty text */
export const estimateTokens = (text: string): number => {
  let ascii = 0;
  let other = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) ascii++;
    // The second half of a surrogate pair belongs to the code point that its first half has counted.
    else if (unit < 0xdc00 || unit > 0xdfff) other++;
  }
  return Math.ceil(ascii / 4 + other);
};

/** One message with its tool calls, overhead included. */
export const estimateMessage = (message: ChatMessage): number => {
  let tokens = PER_MESSAGE + estimateTokens(message.content);
  if (message.role === 'assistant') {
    for (const call of message.toolCalls ?? []) {
      tokens += PER_MESSAGE + estimateTokens(call.name) + estimateTokens(call.arguments);
    }
  }
  return tokens;
};

/** A whole prompt: messages and the tools offered with them. */
export const estimatePrompt = (messages: readonly ChatMessage[], tools: readonly ToolSpec[]): number => {
  let tokens = 0;
  for (const message of messages) tokens += estimateMessage(message);
  for (const tool of tools) tokens += PER_MESSAGE + estimateTokens(JSON.stringify(tool));
  return tokens;
};

/**
 * More than this no tokenizer makes of a text: those that work on bytes make a token of each byte at worst, and the others
 * fall back to bytes for what they do not know. About four times the truth for English, two for Chinese.
 */
const mostTokens = (text: string): number => Buffer.byteLength(text);

/** Upper bound for one message with its tool calls, overhead included. */
export const mostMessageTokens = (message: ChatMessage): number => {
  let tokens = PER_MESSAGE + mostTokens(message.content);
  if (message.role === 'tool') tokens += mostTokens(message.toolCallId);
  if (message.role === 'assistant') {
    for (const { id, name, arguments: text } of message.toolCalls ?? []) {
      tokens += PER_MESSAGE + mostTokens(id) + mostTokens(name) + mostTokens(text);
    }
  }
  return tokens;
};

/** What providers put before a prompt of their own accord, and a line about the time that is longer tomorrow. */
const PER_PROMPT = 500;

/** Upper bound for everything that one request says to a model, to reserve money by. */
export const mostPromptTokens = ({
  messages,
  tools,
  responseSchema,
}: Pick<ModelRequest, 'messages' | 'tools'> & {
  readonly responseSchema?: ModelRequest['responseSchema'] | undefined;
}): number => {
  let tokens = PER_PROMPT;
  for (const message of messages) tokens += mostMessageTokens(message);
  for (const tool of tools) tokens += PER_MESSAGE + mostTokens(JSON.stringify(tool));
  return tokens + (responseSchema === undefined ? 0 : mostTokens(JSON.stringify(responseSchema)));
};
