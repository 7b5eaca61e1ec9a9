import { readFileSync } from 'node:fs';
import { processTree } from './memory.ts';

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // the process has ended
  }
};

const sum = (fields: readonly (string | undefined)[]): number =>
  fields.reduce((total, field) => total + Number(field ?? 0), 0);

/** Ticks of the processors so far: all that were busy, and those of these process trees. */
const ticks = (roots: readonly number[]): { readonly busy: number; readonly own: number } => {
  // user, nice, system, idle, iowait, irq, softirq, steal (proc_stat(5)); what a neighbour on the host stole counts too.
  const [user, nice, system, , , irq, softirq, steal] = /^cpu +(.*)$/m.exec(read('/proc/stat'))?.[1]?.split(' ') ?? [];
  const own = roots.flatMap(processTree).map((pid) => {
    const fields = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
    return sum([fields[11], fields[12]]);
  });
  return { busy: sum([user, nice, system, irq, softirq, steal]), own: sum(own.map(String)) };
};

/**
 * Watches who uses the processors. A promise about time is one for a machine of one's own; on one that others use, what
 * is left of it takes that much longer.
 * @returns how much of what was used was used by these process trees, 0 to 1, since the call; 1 where there is no /proc
 */
export const watchShare = (roots: readonly number[]): (() => number) => {
  const before = ticks(roots);
  return () => {
    const after = ticks(roots);
    const busy = after.busy - before.busy;
    return busy <= 0 ? 1 : Math.min(1, Math.max(0.05, (after.own - before.own) / busy));
  };
};
