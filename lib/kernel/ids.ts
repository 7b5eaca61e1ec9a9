import { createHash, randomBytes } from 'node:crypto';

/** Prefixes of all ids (contract, "HTTP"). */
export const ID_PREFIXES = [
  'org', 'prj', 'agt', 'exe', 'ask', 'sch', 'whk', 'wfl', 'src', 'dlv', 'trg', 'thr', 'tkt', 'mdt', 'eff', 'att', 'key', 'aud', 'tpl', 'dec',
] as const; // biome-ignore format: one line reads better than seventeen
export type IdPrefix = (typeof ID_PREFIXES)[number];

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'; // Crockford's base 32, lower case: sorts as its number does

/** Makes ids. A port, because the simulation needs repeatable ones. */
export interface Ids {
  /** `<prefix>_` + 10 characters of time (ms, sorts) + 16 random characters (80 bits). */
  next(prefix: IdPrefix, nowMs: number): string;
}

const encode = (value: bigint, length: number): string => {
  let rest = value;
  let text = '';
  for (let i = 0; i < length; i++) {
    text = ALPHABET[Number(rest & 31n)] + text;
    rest >>= 5n;
  }
  return text;
};

export const makeIds = (random: (bytes: number) => Uint8Array = randomBytes): Ids => ({
  next(prefix, nowMs) {
    const noise = BigInt(`0x${Buffer.from(random(10)).toString('hex')}`);
    return `${prefix}_${encode(BigInt(nowMs), 10)}${encode(noise, 16)}`;
  },
});

/** The same cause and time make the same id: what is started twice has one name. Sorts by `atMs`. */
export const derivedId = (prefix: IdPrefix, atMs: number, cause: string): string => {
  const noise = BigInt(`0x${createHash('sha256').update(cause).digest('hex').slice(0, 20)}`);
  return `${prefix}_${encode(BigInt(atMs), 10)}${encode(noise, 16)}`;
};

const SHAPE = /^[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}$/;

/** True for the shape of an id with this prefix. Says nothing about existence. */
export const isId = (prefix: IdPrefix, text: string): boolean => text.startsWith(`${prefix}_`) && SHAPE.test(text);
