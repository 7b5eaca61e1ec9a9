import ipaddr from 'ipaddr.js';
import { EgressRefused } from '../tools/egress-refused.ts';
import { isPublicAddress } from './ip-ranges.ts';

/** Which hosts and addresses may be reached besides the public internet, and which never. */
export interface AddressRules {
  /** True when this host and port stand on the allow list: its addresses may be private. */
  isAllowed(host: string, port: number): boolean;
  /**
   * Judges one address that is about to be connected.
   * @param host what the URL named, for the sentence
   * @throws EgressRefused
   */
  check(host: string, address: string, port: number): void;
}

/** Entry of a list for a host and port; IPv6 in brackets, as in a URL. */
const entry = (host: string, port: number): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);

const ENTRY = /^(\[[0-9a-f:.]+\]|[^\s:/[\]@]+):(\d{1,5})$/;

const parseEntries = (texts: readonly string[]): ReadonlySet<string> => {
  const entries = texts.map((text) => text.trim().toLowerCase()).filter((text) => text !== '');
  const wrong = entries.find((text) => !ENTRY.test(text));
  if (wrong !== undefined) throw new Error(`"${wrong}" in the egress allow list is not of the form host:port.`);
  return new Set(entries);
};

/** Addresses of this very machine, in whatever spelling. */
const isThisMachine = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false;
  const range = ipaddr.process(address).range();
  return range === 'loopback' || range === 'unspecified';
};

/**
 * @param allow `host:port`, exact, case of the host ignored
 * @param never `host:port` that stays closed even if it is on the allow list: whoever speaks with the Runtime API of a
 *   Lambda sandbox can answer in the function's place and read the next event
 */
export const makeAddressRules = (allow: readonly string[], never: readonly string[]): AddressRules => {
  const allowed = parseEntries(allow);
  const closed = parseEntries(never);
  const closedPorts = new Set([...closed].map((text) => Number(text.slice(text.lastIndexOf(':') + 1))));
  return {
    isAllowed: (host, port) => allowed.has(entry(host, port)) && !closed.has(entry(host, port)),
    check(host, address, port) {
      const mine = closedPorts.has(port) && (isThisMachine(address) || closed.has(entry(address, port)));
      if (mine || (!allowed.has(entry(host, port)) && !isPublicAddress(address))) {
        throw new EgressRefused(
          host === address
            ? `${host} is not an address on the public internet and cannot be reached.`
            : `${host} leads to an address that is not on the public internet and cannot be reached.`,
        );
      }
    },
  };
};
