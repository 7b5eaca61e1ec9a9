import { randomUUID } from 'node:crypto';
import { failed, type Outcome } from './outcome.ts';
import type { FunctionProcess } from './process.ts';

/**
 * How long an event waits for a busy process before another one is started, milliseconds, for each process there is: the
 * second starts soon, the eighth only where events take long. A start takes as long as some ten short events and memory for
 * good, and holds up the whole local cloud, so a burst is better served by what is there. Lambda adds by degrees too.
 */
const PATIENCE_MS = 200;

const STOPPING = failed('ServiceException', 'The local cloud is stopping.');

const IDLED = failed('Runtime.Idle', 'Ended after idling.');

export interface PoolOptions {
  /** Most processes at one time; further events wait in the order they came. */
  readonly max: number;
  /** The last process is ended after so long without work, milliseconds; any further one after a quarter of it. */
  readonly idleMs: number;
  start(): Promise<FunctionProcess>;
  /** Whether there is room for one process more on this machine. The first one of a pool does not ask. */
  room(): boolean;
  /** Called whenever a process starts or ends. */
  changed(): void;
}

/** The processes of one function: one event per process at a time. */
export interface Pool {
  invoke(payload: Buffer | string): Promise<Outcome>;
  /** Starts the first process before an event asks for it. */
  warm(): void;
  /** How many events could start at once. */
  free(): number;
  /** Processes that run or start. */
  size(): number;
  /** Since when the process that has been idle longest is idle (`performance.now()`); `undefined` when all are busy. */
  idleSince(): number | undefined;
  /** Ends that process. */
  endIdle(): void;
  pids(): readonly number[];
  busy(): Iterable<FunctionProcess>;
  /** Kills the process that took the latest event and still works on it, else any. False when there is none. */
  killOne(): boolean;
  close(): Promise<void>;
}

interface Waiter {
  readonly since: number;
  /** Gets a process, or the reason why there is none. */
  readonly give: (found: FunctionProcess | Outcome) => void;
}

interface Idle {
  readonly process: FunctionProcess;
  readonly since: number;
  readonly timer: NodeJS.Timeout;
}

export const createPool = (options: PoolOptions): Pool => {
  const processes = new Set<FunctionProcess>();
  const busy = new Set<FunctionProcess>();
  const starting = new Set<Promise<void>>();
  /** The last used comes first again, so that the others grow idle and end. */
  const idle: Idle[] = [];
  const waiters: Waiter[] = [];
  let growing: NodeJS.Timeout | undefined;
  let taken = 0;
  let closed = false;

  const size = (): number => processes.size + starting.size;

  const take = (): Promise<FunctionProcess | Outcome> => {
    for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
      clearTimeout(last.timer);
      if (!last.process.isGone()) return Promise.resolve(last.process);
    }
    return new Promise((give) => {
      waiters.push({ since: performance.now(), give });
      grow();
    });
  };

  /**
   * Starts one more process if the first in line has waited long enough and none is on its way, and looks again as long as
   * somebody waits.
   */
  const grow = (): void => {
    const [first] = waiters;
    if (first === undefined || closed) return;
    const impatient = starting.size === 0 && performance.now() - first.since >= PATIENCE_MS * size();
    if (size() === 0 || (impatient && size() < options.max && options.room())) begin();
    growing ??= setTimeout(() => {
      growing = undefined;
      grow();
    }, PATIENCE_MS);
  };

  const begin = (): void => {
    const beginning = options
      .start()
      .then(join, (error: Error) => waiters.shift()?.give(failed('Runtime.StartFailed', error.message)))
      .finally(() => starting.delete(beginning));
    starting.add(beginning);
  };

  const join = (started: FunctionProcess): void => {
    if (closed) started.kill(STOPPING);
    processes.add(started);
    options.changed();
    void started.gone.then(() => {
      processes.delete(started);
      options.changed();
      grow();
    });
    rest(started);
  };

  /** The process goes straight to the first in line, so that nobody overtakes. */
  const rest = (process: FunctionProcess): void => {
    if (process.isGone()) {
      grow();
      return;
    }
    const next = waiters.shift();
    if (next !== undefined) {
      next.give(process);
      return;
    }
    const ms = size() > 1 ? options.idleMs / 4 : options.idleMs;
    const timer = setTimeout(() => process.kill(IDLED), ms);
    timer.unref();
    idle.push({ process, timer, since: performance.now() });
  };

  const run = async (payload: Buffer | string): Promise<Outcome> => {
    const process = await take();
    if ('ok' in process) return process;
    busy.add(process);
    try {
      return await process.invoke(randomUUID(), payload);
    } finally {
      busy.delete(process);
      rest(process);
    }
  };

  return {
    async invoke(payload) {
      if (closed) return STOPPING;
      taken++;
      try {
        return await run(payload);
      } finally {
        taken--;
      }
    },
    warm() {
      if (!closed && size() === 0) begin();
    },
    free: () => (closed ? 0 : Math.max(0, options.max - taken)),
    size,
    idleSince: () => idle[0]?.since,
    endIdle() {
      const first = idle.shift();
      clearTimeout(first?.timer);
      first?.process.kill(IDLED);
    },
    pids: () => [...processes].map(({ pid }) => pid),
    busy: () => busy,
    killOne() {
      const victim = [...busy].at(-1) ?? [...processes].at(-1);
      victim?.kill(failed('Runtime.ExitError', 'Runtime exited with signal SIGKILL'));
      return victim !== undefined;
    },
    async close() {
      closed = true;
      clearTimeout(growing);
      for (const { timer } of idle) clearTimeout(timer);
      for (const waiter of waiters.splice(0)) waiter.give(STOPPING);
      for (const process of processes) process.kill(STOPPING);
      await Promise.all(starting);
      await Promise.all([...processes].map(({ gone }) => gone));
    },
  };
};
