import ipaddr from 'ipaddr.js';

const GLOBAL_UNICAST_V6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * True only for an address on the public internet. An allow rule, so that what nobody thought of is refused: IPv4 outside
 * every special range; IPv6 inside 2000::/3 (RFC 4291: the only block handed out as global unicast) and outside every
 * special range in it. So IPv4 inside IPv6 (mapped, compatible, translated, NAT64, 6to4, Teredo) is refused whatever
 * IPv4 it holds, as is everything that is not the plain text of an address.
 *
 * @param address text as a resolver gives it: dotted IPv4 with four decimal parts, or IPv6 without brackets
 */
export const isPublicAddress = (address: string): boolean => {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address).range() === 'unicast';
  if (!ipaddr.IPv6.isValid(address) || address.includes('%')) return false;
  const parsed = ipaddr.IPv6.parse(address);
  return parsed.range() === 'unicast' && parsed.match(...GLOBAL_UNICAST_V6);
};
