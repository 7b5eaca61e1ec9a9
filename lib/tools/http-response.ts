import { isUtf8 } from 'node:buffer';
import type { GuardedFetch } from './tool.ts';

type HttpAnswer = Awaited<ReturnType<GuardedFetch['fetch']>>;

/** Characters of an answer that reach the conversation: about 4,000 tokens of English. */
const MAX_TEXT = 16_000;

/** Headers that tell a model something; the rest (cookies, caches, servers' names) only costs tokens. */
const SHOWN = ['content-type', 'content-length', 'location', 'retry-after', 'link', 'etag', 'last-modified', 'allow'];

const TEXT_TYPE = /^text\/|json|xml|javascript|x-www-form-urlencoded|yaml|csv|graphql/i;

/** `HTTP 200`, the telling headers, an empty line and the body, cut where it is too long. */
export const describeResponse = (answer: HttpAnswer, requested: string): string => {
  const lines = [`HTTP ${answer.status}`];
  if (URL.canParse(requested) && new URL(requested).href !== answer.url) lines.push(`final address: ${answer.url}`);
  for (const name of SHOWN) {
    const value = answer.headers[name];
    if (value !== undefined) lines.push(`${name}: ${value.slice(0, 500)}`);
  }
  return `${lines.join('\n')}\n\n${describeBody(answer)}`;
};

const describeBody = ({ body, headers, truncated }: HttpAnswer): string => {
  if (body.length === 0) return '(no body)';
  const type = headers['content-type'] ?? '';
  const size = `${body.length} bytes${truncated ? ' or more' : ''}`;
  const text = decode(body, type, truncated);
  if (text === undefined) return `(the body is not text: ${type || 'no content type'}, ${size})`;
  if (text.length <= MAX_TEXT && !truncated) return text;
  const shown = text.slice(0, MAX_TEXT).replace(/[\ud800-\udbff]$/, '');
  return `${shown}\n\n(cut here: the first ${shown.length} characters of ${size})`;
};

/** `undefined` when the bytes are no text that can be shown. */
const decode = (body: Uint8Array, type: string, truncated: boolean): string | undefined => {
  const charset = /charset="?([\w-]+)/i.exec(type)?.[1] ?? 'utf-8';
  const typed = type === '' || TEXT_TYPE.test(type);
  // The end of a cut body may be half a character.
  const whole = truncated ? body.subarray(0, Math.max(0, body.length - 3)) : body;
  if (/^utf-?8$/i.test(charset)) {
    return !body.includes(0) && (typed || isUtf8(whole)) ? new TextDecoder().decode(body) : undefined;
  }
  if (!typed) return undefined;
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return undefined;
  }
};
