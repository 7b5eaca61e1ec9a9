const LINE = /([^\r\n]*)(?:\r\n|\n|\r|$)/g;

/** Lines as Markdown counts them: a lone carriage return ends one too. `end`: offset behind the line and its ending. */
export const linesOf = (text: string): readonly { readonly line: string; readonly end: number }[] => {
  const lines: { readonly line: string; readonly end: number }[] = [];
  for (const found of text.matchAll(LINE)) {
    const end = found.index + found[0].length;
    if (found[0] !== '') lines.push({ line: found[1] ?? '', end });
  }
  return lines;
};
