/**
 * Globs of mandates: `*` and `?` stay within a segment, `**` is a whole segment and stands for any number of them. No
 * braces, classes, negations or escapes, so that "is inside of" can be decided and not only guessed. Pure; the work is the
 * product of two lengths, whatever they say.
 */

type Token =
  | { readonly is: 'literal'; readonly character: string }
  /** `?` */
  | { readonly is: 'one' }
  /** `*` */
  | { readonly is: 'some' }
  /** `**` + `/`: whole segments, none too. */
  | { readonly is: 'folders' }
  /** `**` at the end: anything. */
  | { readonly is: 'rest' };

const FORBIDDEN = /[\\[\]{}!\p{Cc}]/u;

/** What keeps a text from being a glob, or `undefined`. */
export const globFault = (glob: string): string | undefined => {
  if (glob === '') return 'it is empty';
  if (FORBIDDEN.test(glob)) return 'it holds one of \\ [ ] { } ! or a control character';
  const segments = glob.split('/');
  if (segments.includes('')) return 'it begins or ends with / or holds //';
  if (segments.includes('.') || segments.includes('..')) return 'it holds a segment . or ..';
  if (segments.some((segment) => segment.includes('**') && segment !== '**')) return '** is not a whole segment';
  return undefined;
};

const tokensOf = (glob: string): readonly Token[] => {
  const tokens: Token[] = [];
  const characters = [...glob];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? '';
    if (character === '*' && characters[at + 1] === '*') {
      const inner = characters[at + 2] === '/';
      tokens.push({ is: inner ? 'folders' : 'rest' });
      at += inner ? 2 : 1;
    } else if (character === '*') tokens.push({ is: 'some' });
    else if (character === '?') tokens.push({ is: 'one' });
    else tokens.push({ is: 'literal', character });
  }
  return tokens;
};

/** Whether one wildcard takes in one token, whatever that stands for. */
const takes = (wide: Token, narrow: Token): boolean => {
  switch (wide.is) {
    case 'literal':
      return narrow.is === 'literal' && narrow.character === wide.character;
    case 'one':
      return narrow.is === 'one' || (narrow.is === 'literal' && narrow.character !== '/');
    case 'some':
      return narrow.is === 'some' || narrow.is === 'one' || (narrow.is === 'literal' && narrow.character !== '/');
    case 'folders':
    case 'rest':
      return true;
  }
};

const endsFolder = (token: Token): boolean =>
  token.is === 'folders' || (token.is === 'literal' && token.character === '/');

/**
 * Whether `wide` takes in every path that `narrow` stands for, by laying the one's tokens into the other's wildcards. It is
 * never true without being so; a few true ones are not seen (`a*` and `*` together never split a wildcard), which only
 * makes a mandate narrower.
 */
const takesIn = (wide: readonly Token[], narrow: readonly Token[]): boolean => {
  // fits[j]: the tokens of `wide` from i on take in those of `narrow` from j on; row by row from the end.
  let fits = Array.from({ length: narrow.length + 1 }, (_, j) => j === narrow.length);
  for (let i = wide.length - 1; i >= 0; i--) {
    const token = wide[i] as Token;
    const row: boolean[] = new Array<boolean>(narrow.length + 1).fill(false);
    /** `folders` only: some position further on, behind the end of a folder, fits. */
    let behindFolder = false;
    for (let j = narrow.length; j >= 0; j--) {
      const next = narrow[j];
      const taken = next !== undefined && takes(token, next);
      switch (token.is) {
        case 'literal':
        case 'one':
          row[j] = taken && fits[j + 1] === true;
          break;
        case 'some':
        case 'rest':
          row[j] = fits[j] === true || (taken && row[j + 1] === true);
          break;
        case 'folders':
          if (next !== undefined && endsFolder(next) && fits[j + 1] === true) behindFolder = true;
          row[j] = fits[j] === true || behindFolder;
      }
    }
    fits = row;
  }
  return fits[0] === true;
};

/** Whether every path of the glob `narrow` is one of the glob `wide`. */
export const globWithin = (narrow: string, wide: string): boolean =>
  globFault(narrow) === undefined && globFault(wide) === undefined && takesIn(tokensOf(wide), tokensOf(narrow));

/** Whether a path is one that may be compared at all: relative, in one way to write it. */
export const isPlainPath = (path: string): boolean =>
  path !== '' &&
  !/[\\\p{Cc}]/u.test(path) &&
  path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');

/** A path that is not plain matches nothing. */
export const globMatches = (glob: string, path: string): boolean =>
  globFault(glob) === undefined &&
  isPlainPath(path) &&
  takesIn(
    tokensOf(glob),
    [...path].map((character): Token => ({ is: 'literal', character })),
  );
