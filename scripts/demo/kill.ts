import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from './api.ts';

/** A step without a pause is over in some 200 ms, so the look between two has to be quick. */
const LOOK_EVERY_MS = 20;
/** After this the commit of a step that was not hit in time has long been made. */
const AFTERMATH_MS = 400;

export interface Killed {
  readonly pid: number;
  /** The step whose holder died. */
  readonly seq: number;
  /** Milliseconds, `performance.now()`. */
  readonly at: number;
}

/** Linux says T of a process that the local cloud has frozen: it has no event in hand. Elsewhere nobody is left out. */
const isFrozen = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
  } catch {
    return false;
  }
};

/** Processes of the step function that are at work, as the local cloud keeps them in `processes.json`. */
export const stepProcesses = (home: string): readonly number[] => {
  const byFunction = JSON.parse(readFileSync(join(home, 'processes.json'), 'utf8')) as {
    readonly [name: string]: readonly number[];
  };
  const [, pids = []] = Object.entries(byFunction).find(([name]) => name.endsWith('-step')) ?? [];
  return pids.filter((pid) => !isFrozen(pid));
};

/** `kill -9`. False when there is no such process any more. */
export const killProcess = (pid: number): boolean => {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
};

/**
 * Waits until a process holds the lease of a step numbered `fromSeq` or later, and kills it. Whether it was hit in the middle
 * is read from the run afterwards: it still shows the dead one's lease and has not moved. If it has, the next step is tried.
 * @returns `undefined` when the run ended before one could be hit
 */
export const killInMidStep = async (
  { api, home, signal }: { readonly api: Api; readonly home: string; readonly signal: AbortSignal },
  executionId: string,
  fromSeq: number,
): Promise<Killed | undefined> => {
  for (;;) {
    const before = await api.execution(executionId);
    if (before.status !== 'RUNNING') return undefined;
    const pid = before.seq >= fromSeq && before.now?.state === 'working' ? stepProcesses(home)[0] : undefined;
    if (pid === undefined || !killProcess(pid)) {
      await sleep(LOOK_EVERY_MS, undefined, { signal });
      continue;
    }
    const at = performance.now();
    await sleep(AFTERMATH_MS, undefined, { signal });
    const after = await api.execution(executionId);
    if (after.seq === before.seq && after.now?.state === 'working') return { pid, seq: before.seq, at };
  }
};
