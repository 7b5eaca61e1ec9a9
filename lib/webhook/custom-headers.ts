/** Headers that go with every delivery of an endpoint: for receivers behind a gateway that wants a key of its own. */
import type { FieldError } from '../kernel/errors.ts';
import { MOST_HEADER_BYTES } from './secret-document.ts';

const MOST_HEADERS = 20;
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/; // RFC 9110, "token"
const VALUE = /^[\x21-\x7e]([\x20-\x7e]{0,998}[\x21-\x7e])?$/;

/** What frames the request, what says where it goes, and what the signature is checked by. */
const OURS: ReadonlySet<string> = new Set([
  'accept-encoding', 'connection', 'content-encoding', 'content-length', 'content-type', 'expect', 'host', 'keep-alive', 'te',
  'trailer', 'transfer-encoding', 'upgrade', 'user-agent',
]); // biome-ignore format: one list reads better than twelve lines
const isOurs = (name: string): boolean => OURS.has(name) || /^(proxy|sec|webhook)-/.test(name);

export type Headers = { readonly [name: string]: string };

/** @returns what does not fit; values are never quoted */
export const headerErrors = (headers: Headers): FieldError[] => {
  const entries = Object.entries(headers);
  const errors = entries.flatMap(([name, value]): FieldError[] => {
    const field = `headers.${name.slice(0, 100)}`;
    if (!NAME.test(name)) return [{ field, received: `name of ${name.length} characters`, expected: 'a header name' }];
    if (isOurs(name.toLowerCase())) {
      return [{ field, received: 'a header that every delivery sets itself', expected: 'another header' }];
    }
    const expected = '1 to 1000 printable ASCII characters, no space at either end';
    return VALUE.test(value) ? [] : [{ field, received: `string of ${value.length} characters`, expected }];
  });
  if (new Set(entries.map(([name]) => name.toLowerCase())).size < entries.length) {
    errors.push({ field: 'headers', received: 'a name twice, in different case', expected: 'each name once' });
  }
  const bytes = Buffer.byteLength(JSON.stringify(headers));
  if (entries.length > MOST_HEADERS || bytes > MOST_HEADER_BYTES) {
    const received = `${entries.length} headers of ${bytes} bytes`;
    errors.push({
      field: 'headers',
      received,
      expected: `at most ${MOST_HEADERS} of ${MOST_HEADER_BYTES} bytes in all`,
    });
  }
  return errors;
};
