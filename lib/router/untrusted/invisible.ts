/**
 * Characters that a reader does not see and a model does. Alphabets of them carry whole texts: tag characters spell ASCII,
 * variation selectors and zero-width characters spell bytes.
 */

const ESCAPE = String.fromCharCode(0x1b);
const BELL = String.fromCharCode(0x07);
/** Escape sequences of terminals, as logs have them: colours and titles. */
const TERMINAL = new RegExp(
  `${ESCAPE}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BELL}${ESCAPE}]{0,2000}(?:${BELL}|${ESCAPE}\\\\)|[@-Z\\\\^_])`,
  'g',
);
const CONTROL = /\p{Cc}/gu;
const LAYOUT = '\t\n\r';
/** What renderers skip by Unicode's own word (zero width, directions, selectors, tags, fillers), and annotations between lines. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]/gu;

/** Letters of scripts that join and part their shapes by ZWNJ and ZWJ: Persian, Indic scripts, and their like. */
const JOINING =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const PICTURE = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f/u;
const PICTURE_BASE = /[\p{Extended_Pictographic}0-9#*]/u;

const ZWNJ = '\u200c';
const ZWJ = '\u200d';
const TEXT_STYLE = '\ufe0e';
const EMOJI_STYLE = '\ufe0f';

/** What belongs to the writing itself: one at a time, between what it joins or behind what it styles. */
const belongs = (character: string, before: string, after: string): boolean => {
  if (character === ZWJ || character === ZWNJ) {
    if (JOINING.test(before) && JOINING.test(after)) return true;
    return character === ZWJ && PICTURE.test(before) && PICTURE.test(after);
  }
  return (character === EMOJI_STYLE || character === TEXT_STYLE) && PICTURE_BASE.test(before);
};

export interface WithoutInvisible {
  readonly text: string;
  /** Something that nobody sees was there. */
  readonly invisible: boolean;
  /** Control characters or commands to a terminal were there. */
  readonly control: boolean;
}

/**
 * The text as a reader sees it. Half a surrogate pair becomes U+FFFD. What joins emoji and letters stays, so that ❤️, 👩‍💻
 * and Persian come out as they went in.
 */
export const withoutInvisible = (given: string): WithoutInvisible => {
  const text = given.toWellFormed();
  const plain = text
    .replace(TERMINAL, '')
    .replace(CONTROL, (character) => (LAYOUT.includes(character) ? character : ''));
  const seen = plain.replace(UNSEEN, (character, at: number) => {
    const before = [...plain.slice(Math.max(0, at - 2), at)].at(-1) ?? '';
    const after = [...plain.slice(at + character.length, at + character.length + 2)][0] ?? '';
    return belongs(character, before, after) ? character : '';
  });
  return { text: seen, invisible: seen !== plain, control: plain !== text };
};
