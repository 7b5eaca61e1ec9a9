/** Lengths of texts in code points: a page never splits a character and counts an emoji as one, in any script. */

/** Halves of surrogate pairs that stand alone become U+FFFD, so that what is cut here can be cut anywhere again. */
export const pointsOf = (text: string): string[] => Array.from(text.toWellFormed());

export interface Slice {
  readonly text: string;
  /** Where the rest begins; missing when there is none. */
  readonly next?: number;
  /** Code points in all. */
  readonly of: number;
}

/** @param from code points that are passed over */
export const slice = (text: string, from: number, most: number): Slice => {
  const points = pointsOf(text);
  const end = Math.min(points.length, from + most);
  return {
    text: points.slice(from, end).join(''),
    ...(end < points.length && { next: end }),
    of: points.length,
  };
};

/** At most `most` code points; the last one is an ellipsis where something was left out. */
export const shorten = (text: string, most: number): string => {
  const points = pointsOf(text);
  return points.length <= most ? points.join('') : `${points.slice(0, most - 1).join('')}…`;
};
