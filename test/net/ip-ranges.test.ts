import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../lib/net/ip-ranges.ts';

const PRIVATE = [
  '0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.255.254',
  '169.254.169.254', '169.254.79.129', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1',
  '192.168.0.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1',
  '255.255.255.255', '::', '::1', '::2', '::7f00:1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1',
  '::ffff:0:127.0.0.1', '64:ff9b::127.0.0.1', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '100::1', '2001::1', '2001:10::1',
  '2001:20::1', '2001:db8::1', '2002:7f00:1::', '2002:0808:0808::1', '3fff::1', '5f00::1', 'fc00::1', 'fd00:ec2::254',
  'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', '4000::1', '[::1]', '', 'example.com', '127.1', '0x7f.0.0.1', '2130706433',
  '017700000001', '127.0.0.01', '8.8.8.8 ', '8.8.8', '256.1.1.1', '2606:4700:4700::1111%eth0',
]; // biome-ignore format: a table of addresses
const PUBLIC = ['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.1', '172.15.0.1', '172.32.0.1', '192.169.0.1', '198.20.0.1',
  '223.255.255.254', '2606:4700:4700::1111', '2a00:1450:4001:80b::200e']; // biome-ignore format: a table of addresses

describe('isPublicAddress', () => {
  it.each(PRIVATE)('refuses %s', (address) => expect(isPublicAddress(address)).toBe(false));
  it.each(PUBLIC)('takes %s', (address) => expect(isPublicAddress(address)).toBe(true));

  it('never takes IPv4 inside IPv6, whatever the prefix', () => {
    const prefixes = ['::', '::ffff:', '::ffff:0:', '64:ff9b::'];
    fc.assert(
      fc.property(fc.constantFrom(...prefixes), fc.ipV4(), (prefix, v4) => !isPublicAddress(prefix + v4)),
      { numRuns: 200 },
    );
  });

  it('never throws and never takes text that is no address', () => {
    fc.assert(fc.property(fc.string(), (text) => !isPublicAddress(`${text}x`)));
  });
});
