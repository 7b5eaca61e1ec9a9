/**
 * A stated estimate of tokens, used where no provider has counted yet: to fit a prompt into its window, to reserve money,
 * and for providers that send no usage. It is not a tokenizer: those differ by model and weigh megabytes in a bundle.
 *
 * Four ASCII characters a token is the rule of thumb the providers themselves give for English text; code points outside
 * ASCII are counted one each, which is near the truth for Chinese and Japanese and too high for accented Latin text.
 * Too high is the safe side: a window that is a little too small, a reserve that is a little too big.
 */
import type { ChatMessage, ToolSpec } from './model.ts';

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
