import { isIP } from 'node:net';
import { EgressRefused } from '../tools/egress-refused.ts';
import type { AddressRules } from './address-rules.ts';

const LOCAL_NAMES = ['localhost', 'local', 'internal'];

const isLocalName = (host: string): boolean =>
  LOCAL_NAMES.some((name) => host === name || host.endsWith(`.${name}`)) || !host.includes('.');

/** Longer ones are refused by most servers anyway; this keeps a model from sending a file in a URL. */
const MAX_URL = 8192;

/** Host without brackets, and the port in use, of a URL or of a connection. */
export const hostAndPort = (url: { readonly hostname: string; readonly protocol: string; readonly port: string }) => ({
  host: url.hostname.replace(/^\[|\]$/g, '').toLowerCase(),
  port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port),
});

/**
 * Judges the text of a URL; the addresses behind a name are judged when it is connected. The WHATWG parser has turned
 * decimal, hex, octal and shortened IPv4 spellings into the dotted one, so there is one spelling to judge.
 *
 * @throws EgressRefused
 */
export const checkUrl = (text: string, rules: AddressRules): URL => {
  if (text.length > MAX_URL) throw new EgressRefused(`The URL is longer than ${MAX_URL} characters.`);
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new EgressRefused(`"${text.slice(0, 200)}" is not an absolute URL like https://example.com/path.`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new EgressRefused(`The URL begins with ${url.protocol} but only http: and https: can be requested.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new EgressRefused('The URL holds a user name or password; send an Authorization header instead.');
  }
  // "example.com." and "example.com" are one host; without this the dot would slip past the rules for names.
  const name = url.hostname.replace(/\.+$/, '');
  if (name === '') throw new EgressRefused('The URL names no host.');
  if (name !== url.hostname) url.hostname = name;
  const { host, port } = hostAndPort(url);
  if (isIP(host) !== 0) rules.check(host, host, port);
  else if (isLocalName(host) && !rules.isAllowed(host, port)) {
    throw new EgressRefused(`${host} is a private name; only hosts on the public internet can be reached.`);
  }
  return url;
};
