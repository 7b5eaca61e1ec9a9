import type { Conversation } from './conversation.ts';

/** Lines that carry something to remember: a number, a path, a decision. */
const TELLING = /\d|\/|\.(?:md|csv|txt|json)\b|\b(?:goal|result|total|decided|error|question|answer)\b/i;

/**
 * Answers a request without tools, which is how a summary is asked for: an extract of the newest telling lines, each once,
 * within the length that was asked for. It makes nothing up, and it is too plain to be taken for a model's summary.
 */
export const extract = (conversation: Conversation, maxCharacters: number): string => {
  const lines = conversation.messages
    .filter(({ role }) => role !== 'system')
    .flatMap(({ content, calls }) => [
      ...content.split(/\r?\n/),
      ...calls.map(({ name, args }) => `${name} ${typeof args.path === 'string' ? args.path : ''}`),
    ])
    .map((line) => line.trim().slice(0, 200))
    .filter((line) => line !== '');
  const telling = lines.filter((line) => TELLING.test(line));
  const newestFirst = [...new Set((telling.length > 0 ? telling : lines).reverse())];
  const kept: string[] = [];
  let room = maxCharacters - 40;
  for (const line of newestFirst) {
    room -= line.length + 3;
    if (room < 0) break;
    kept.unshift(`- ${line}`);
  }
  return ['Extract by the rehearsal model:', ...kept].join('\n');
};
