import { linesOf } from './lines.ts';
import { plainFences } from './plain-fences.ts';

/**
 * How much of a text is parsed. A parser of Markdown takes time that grows with the square of what is open at once: 20,000
 * times `*_` in one paragraph took it 5 s, 10,000 times `]` as long, 500 nested lists 3 s, 8,000 columns 4 s. Whoever
 * writes a comment must not be able to buy that.
 */

/** GitHub's comments have at most 65,536 characters. */
const MOST_CHARACTERS = 100_000;
/** Of brackets, stars and their like in one paragraph. */
const MOST_MARKS = 4_000;
/** Quotes and lists inside each other. */
const DEEPEST = 30;
/** Columns of a table. */
const WIDEST = 300;

const MARK = /[*_~[\]!`]/g;
const CONTAINERS = /^(?:[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])))*/;
const CONTAINER = />|[-+*]|\d+[.)]/g;
const RULE = /^[ \t]*([-_*])(?:[ \t]*\1)+[ \t]*$/;

const depthOf = (line: string): number =>
  RULE.test(line) ? 0 : (CONTAINERS.exec(line.slice(0, 40 * DEEPEST))?.[0].match(CONTAINER)?.length ?? 0);

/**
 * The beginning of the text that is parsed: whole paragraphs up to the first that is too tangled. What opens before the cut
 * and closes behind it (a comment, a fence) then reaches to the end, so that nothing hidden or quoted comes out of it. What
 * stands between fences counts for nothing but its length: logs do.
 */
export const withinBudget = (text: string): string => {
  const fenced = plainFences(text);
  let paragraphStart = 0;
  let marks = 0;
  for (const [number, { line, end }] of linesOf(text).entries()) {
    if (end > MOST_CHARACTERS) return text.slice(0, paragraphStart);
    if (line.trim() === '' || fenced.has(number)) {
      paragraphStart = end;
      marks = 0;
      continue;
    }
    marks += line.match(MARK)?.length ?? 0;
    if (marks > MOST_MARKS || line.split('|').length > WIDEST || depthOf(line) > DEEPEST) {
      return text.slice(0, paragraphStart);
    }
  }
  return text;
};
