import { readFileSync } from 'node:fs';
import { failed } from './outcome.ts';
import type { FunctionProcess } from './process.ts';

/** What a Node process takes before any code of ours runs; Lambda's limit does not feel it as much. */
const IDLE_OVERHEAD_MB = 64;
const EVERY_MS = 100;

/** Kills processes that take more memory than their function has. Linux only: elsewhere there is no cheap way to look. */
export const watchMemory = (busy: () => Iterable<FunctionProcess>): (() => void) => {
  if (process.platform !== 'linux') return () => {};
  const timer = setInterval(() => {
    for (const one of busy()) {
      const used = residentMb(one.pid);
      if (used > one.memoryMb + IDLE_OVERHEAD_MB) {
        one.kill(
          failed('Runtime.OutOfMemory', `Memory limit of ${one.memoryMb} MB exceeded (${Math.round(used)} MB in use).`),
        );
      }
    }
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
};

/** Resident set, MB; 0 when the process is gone. */
const residentMb = (pid: number): number => {
  try {
    const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
    return Number(match?.[1] ?? 0) / 1024;
  } catch {
    return 0; // it ended between two looks
  }
};
