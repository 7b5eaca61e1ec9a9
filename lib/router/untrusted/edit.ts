/** A place in a text, by its offsets, and what stands there instead. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly with: string;
}

/** The text with its edits. What begins inside of an earlier one is part of that one. */
export const edited = (text: string, edits: readonly Edit[]): string => {
  const parts: string[] = [];
  let at = 0;
  for (const edit of edits.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    if (edit.from < at) continue;
    parts.push(text.slice(at, edit.from), edit.with);
    at = edit.to;
  }
  parts.push(text.slice(at));
  return parts.join('');
};
