import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressRules } from './address-rules.ts';
import { hostAndPort } from './check-url.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Answers every address of a name. */
export type Lookup = (host: string) => Promise<readonly ResolvedAddress[]>;

const CONNECT_MS = 3_000;

/** The resolver of the system, so that its hosts file and search rules are judged as they would be used. */
export const lookupAll: Lookup = (host) =>
  new Promise((resolve, reject) => {
    systemLookup(host, { all: true }, (error, addresses) => {
      if (error !== null) reject(error);
      else resolve(addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 })));
    });
  });

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/**
 * A connector that resolves a name once, judges all its addresses and connects to exactly those. Judging a name before
 * the request and letting the client resolve it again would let a second answer slip in between (DNS rebinding).
 */
export const makePinnedConnector = (rules: AddressRules, lookup: Lookup): buildConnector.connector => {
  return (options, callback) => {
    const { host, port } = hostAndPort(options);
    const resolve = async (): Promise<readonly ResolvedAddress[]> => {
      const addresses = await lookup(host);
      if (addresses.length === 0) throw new Error(`${host} has no address.`);
      for (const { address } of addresses) rules.check(host, address, port);
      return addresses;
    };
    const pinned: LookupFunction = (_name, lookupOptions, answer) => {
      resolve().then(
        (addresses) => {
          if (lookupOptions.all === true) answer(null, [...addresses]);
          else answer(null, addresses[0]?.address ?? '', addresses[0]?.family);
        },
        (error: unknown) => answer(asError(error), []),
      );
    };
    try {
      // Node does not ask `lookup` about a literal address, so it is judged here, where it is connected, too.
      if (isIP(host) !== 0) rules.check(host, host, port);
    } catch (error) {
      callback(asError(error), null);
      return;
    }
    // One connector a connection: a lookup function is not told the port, which the allow list needs. HTTP/1.1 only and
    // no cache of TLS sessions, because two connections share nothing.
    buildConnector({ lookup: pinned, timeout: CONNECT_MS, allowH2: false, maxCachedSessions: 0 })(options, callback);
  };
};
