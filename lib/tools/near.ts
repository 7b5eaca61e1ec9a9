/** Letters to change, add, remove or swap with a neighbour to turn `a` into `b`. */
const distance = (a: string, b: string): number => {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (above[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (before[j - 2] ?? 0) + 1);
      row.push(best);
    }
    before = above;
    above = row;
  }
  return above[b.length] ?? 0;
};

/** Spelling without case and separators: "WriteFile", "write-file" and "write file" mean one thing. */
export const bare = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** The known name that was probably meant, for a suggestion only: nothing is ever called by a near miss. */
export const nearest = (name: string, known: readonly string[]): string | undefined => {
  const wanted = bare(name.slice(0, 64));
  if (wanted === '') return undefined;
  const same = known.find((candidate) => bare(candidate) === wanted);
  if (same !== undefined) return same;
  const [best] = known
    .map((candidate) => ({ candidate, far: distance(wanted, bare(candidate)) }))
    .sort((a, b) => a.far - b.far);
  return best !== undefined && best.far <= Math.max(1, Math.floor(wanted.length / 4)) ? best.candidate : undefined;
};
