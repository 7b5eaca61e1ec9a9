/** Bytes of UTF-8. The path is part of a sort key, which DynamoDB limits to 1,024 bytes. */
export const MAX_PATH_BYTES = 512;

/** Where tool results that were too big for the conversation are read: `~spilled/<seq>-<n>`. */
const SPILLED = /^~spilled\/(\d{1,9})-(\d{1,4})$/;

export type PathCheck =
  | { readonly ok: true /** Normalised (NFC), so that one name is one file. */; readonly path: string }
  | { readonly ok: false /** A sentence that says what is wrong and shows a right path. */; readonly problem: string };

/**
 * Judges the path of a file of an execution. Files are rows and objects, never names on a disk, so a path cannot leave
 * anything; the rules keep it unambiguous in keys and URLs and harmless when somebody downloads the files.
 */
export const checkPath = (text: string): PathCheck => {
  const why = problemWith(text);
  if (why === undefined) return { ok: true, path: text.normalize('NFC') };
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return {
    ok: false,
    problem: `The path ${JSON.stringify(shown)} ${why}. Paths are relative, like "report.md" or "data/figures.csv".`,
  };
};

const problemWith = (text: string): string | undefined => {
  if (text === '') return 'is empty';
  if (!text.isWellFormed()) return 'holds half a character';
  if (Buffer.byteLength(text.normalize('NFC')) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`;
  if (/\p{Cc}/u.test(text)) return 'holds a control character';
  if (text.includes('\\')) return 'holds a backslash; folders are separated by "/"';
  if (text.startsWith('/') || /^[A-Za-z]:/.test(text)) return 'is absolute';
  if (text.startsWith('~')) return 'begins with "~"';
  // HTTP APIs decode a path before anybody sees it, and cut it at a decoded "?": such a file could not be downloaded.
  if (/\?|%[0-9a-f]{2}/i.test(text)) return 'holds a "?" or a percent code like "%20"';
  const segments = text.split('/');
  if (segments.includes('')) return 'has an empty part between two slashes or at its end';
  if (segments.includes('..')) return 'goes up with ".."';
  if (segments.includes('.')) return 'has a part "."';
  return undefined;
};

/** The call whose set-aside result a path names, if it names one. */
export const spilledCall = (path: string): { readonly seq: number; readonly n: number } | undefined => {
  const match = SPILLED.exec(path);
  return match === null ? undefined : { seq: Number(match[1]), n: Number(match[2]) };
};

/** Path under which `read_file` finds the set-aside result of a call. */
export const spilledPath = (seq: number, n: number): string => `~spilled/${seq}-${n}`;
