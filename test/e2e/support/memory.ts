import { readdirSync, readFileSync } from 'node:fs';

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // the process has ended
  }
};

/** The process and everything below it. */
export const processTree = (root: number): readonly number[] => {
  const parents = readdirSync('/proc').flatMap((name) => {
    // The name in brackets may hold anything; the parent's id is the second field behind it.
    const after = /^\d+$/.test(name) ? read(`/proc/${name}/stat`)?.split(') ').at(-1) : undefined;
    return after === undefined ? [] : [{ pid: Number(name), parent: Number(after.split(' ')[1]) }];
  });
  const tree = [root];
  for (const pid of tree) tree.push(...parents.filter(({ parent }) => parent === pid).map((child) => child.pid));
  return tree;
};

/** Resident memory of a process tree, megabytes; shared pages count once (PSS). 0 where there is no /proc. */
export const residentMb = (root: number): number => {
  if (process.platform !== 'linux') return 0;
  const kilobytes = processTree(root).map((pid) => {
    const text = read(`/proc/${pid}/smaps_rollup`) ?? '';
    return Number(/^Pss: +(\d+) kB/m.exec(text)?.[1] ?? 0);
  });
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024;
};
