import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'baton_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 43; // 62^43 > 2^256
const CHECKSUM_LENGTH = 6; // 62^6 > 2^32

const base62 = (value: bigint, length: number): string => {
  let rest = value;
  let text = '';
  for (let i = 0; i < length; i++) {
    text = ALPHABET[Number(rest % 62n)] + text;
    rest /= 62n;
  }
  return text;
};

const checksum = (secret: string): string => base62(BigInt(crc32(secret)), CHECKSUM_LENGTH);

/** `baton_` + 256 random bits in base 62 + a CRC32 of those characters. It is shown once and never stored. */
export const makeApiKey = (random: (bytes: number) => Uint8Array = randomBytes): string => {
  const secret = base62(BigInt(`0x${Buffer.from(random(32)).toString('hex')}`), SECRET_LENGTH);
  return `${PREFIX}${secret}${checksum(secret)}`;
};

/** All that is stored of a key. Its 256 bits need no salt and no slow hash. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** True when the text claims to be one of our keys and its checksum denies it: somebody mistyped or cut it. */
export const isMistyped = (key: string): boolean => {
  if (!key.startsWith(PREFIX)) return false;
  const rest = key.slice(PREFIX.length);
  const secret = rest.slice(0, SECRET_LENGTH);
  return rest.length !== SECRET_LENGTH + CHECKSUM_LENGTH || rest.slice(SECRET_LENGTH) !== checksum(secret);
};
