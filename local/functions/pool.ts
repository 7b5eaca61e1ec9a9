import { randomUUID } from 'node:crypto';
import { failed, type Outcome } from './outcome.ts';
import type { FunctionProcess } from './process.ts';

export interface PoolOptions {
  /** Most processes at one time; further events wait in the order they came. */
  readonly max: number;
  /** A process without work for so long is ended, milliseconds. */
  readonly idleMs: number;
  start(): Promise<FunctionProcess>;
  /** Called whenever a process starts or ends. */
  changed(): void;
}

/** The processes of one function: one event per process at a time. */
export interface Pool {
  invoke(payload: Buffer | string): Promise<Outcome>;
  /** How many events could start at once. */
  free(): number;
  pids(): readonly number[];
  busy(): Iterable<FunctionProcess>;
  /** Kills the process that took the latest event and still works on it, else any. False when there is none. */
  killOne(): boolean;
  close(): Promise<void>;
}

const STOPPING = failed('ServiceException', 'The local cloud is stopping.');

export const createPool = (options: PoolOptions): Pool => {
  const processes = new Set<FunctionProcess>();
  const busy = new Set<FunctionProcess>();
  /** The last used comes first again, so that the others grow idle and end. */
  const idle: { readonly process: FunctionProcess; readonly timer: NodeJS.Timeout }[] = [];
  const queue: (() => void)[] = [];
  const starting = new Set<Promise<FunctionProcess | Error>>();
  let taken = 0;
  let closed = false;

  const acquire = async (): Promise<void> => {
    if (taken < options.max) {
      taken++;
      return;
    }
    await new Promise<void>((resolve) => queue.push(resolve));
  };
  /** The slot goes straight to the next in line, so that nobody overtakes. */
  const release = (): void => {
    const next = queue.shift();
    if (next === undefined) taken--;
    else next();
  };

  const begin = async (): Promise<FunctionProcess> => {
    for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
      clearTimeout(last.timer);
      if (!last.process.isGone()) return last.process;
    }
    const started = await options.start();
    if (closed) started.kill(STOPPING);
    processes.add(started);
    options.changed();
    void started.gone.then(() => {
      processes.delete(started);
      options.changed();
    });
    return started;
  };

  const rest = (process: FunctionProcess): void => {
    if (process.isGone()) return;
    const timer = setTimeout(() => process.kill(failed('Runtime.Idle', 'Ended after idling.')), options.idleMs);
    timer.unref();
    idle.push({ process, timer });
  };

  return {
    async invoke(payload) {
      await acquire();
      try {
        if (closed) return STOPPING;
        const beginning = begin().catch((error: Error) => error);
        starting.add(beginning);
        const process = await beginning;
        starting.delete(beginning);
        if (process instanceof Error) return failed('Runtime.StartFailed', process.message);
        busy.add(process);
        try {
          return await process.invoke(randomUUID(), payload);
        } finally {
          busy.delete(process);
          rest(process);
        }
      } finally {
        release();
      }
    },
    free: () => (closed ? 0 : options.max - taken),
    pids: () => [...processes].map(({ pid }) => pid),
    busy: () => busy,
    killOne() {
      const victim = [...busy].at(-1) ?? [...processes].at(-1);
      victim?.kill(failed('Runtime.ExitError', 'Runtime exited with signal SIGKILL'));
      return victim !== undefined;
    },
    async close() {
      closed = true;
      for (const { timer } of idle) clearTimeout(timer);
      for (const process of processes) process.kill(STOPPING);
      await Promise.all(starting);
      await Promise.all([...processes].map(({ gone }) => gone));
    },
  };
};
