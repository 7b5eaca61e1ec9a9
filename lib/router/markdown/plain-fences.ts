import { linesOf } from './lines.ts';

/** In no list and no quote, because it begins its line. */
const OPENING = /^(?:(`{3,})[^`]*|(~{3,}).*)$/;
const CLOSING = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;
/** A line whose fence, or HTML, may stand in something else, which ends where no fence tells. */
const UNCLEAR = /^(?:[ \t>*+-]|\d{1,9}[.)])*(?:<|(?:[ \t>*+-]|\d{1,9}[.)])(?:`{3}|~{3}))/;

/**
 * Numbers of the lines that stand between fences beyond doubt. A parser passes over them quickly, whatever they hold. From
 * the first line on that could be read otherwise (HTML can swallow a fence, a list can end one) there are none.
 */
export const plainFences = (text: string): ReadonlySet<number> => {
  const inside = new Set<number>();
  let fence = '';
  for (const [number, { line }] of linesOf(text).entries()) {
    if (fence !== '') {
      if (CLOSING.exec(line)?.[1]?.startsWith(fence) === true) fence = '';
      else inside.add(number);
    } else {
      if (UNCLEAR.test(line.slice(0, 2_000))) break;
      const [, ticks, tildes] = OPENING.exec(line) ?? [];
      fence = ticks ?? tildes ?? '';
    }
  }
  return inside;
};
