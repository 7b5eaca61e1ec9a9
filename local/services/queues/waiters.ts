interface Waiter {
  /** Tries to receive; `true` when the waiter is served. */
  readonly attempt: () => boolean;
  readonly leave: () => void;
}

/**
 * Long polls. A message wakes the poll that has waited longest, and only that one; a poll whose client has gone leaves
 * the line before it could take a message with it.
 */
export class Waiters {
  private readonly lines = new Map<string, Set<Waiter>>();
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly nextVisibleAt: (queue: string) => number | undefined;
  private readonly now: () => number;

  constructor(options: { nextVisibleAt: (queue: string) => number | undefined; now: () => number }) {
    this.nextVisibleAt = options.nextVisibleAt;
    this.now = options.now;
  }

  /** Resolves with what `receive` gives once it gives something, or `undefined` after `ms`, on abort or at the close. */
  wait<T>(
    queue: string,
    ms: number,
    signal: AbortSignal | undefined,
    receive: () => T | undefined,
  ): Promise<T | undefined> {
    if (signal?.aborted === true) return Promise.resolve(undefined);
    const line = this.lines.get(queue) ?? new Set();
    this.lines.set(queue, line);
    return new Promise((resolve, reject) => {
      const settle = (value: T | undefined): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
        line.delete(waiter);
        resolve(value);
      };
      const leave = (): void => settle(undefined);
      const attempt = (): boolean => {
        try {
          const value = receive();
          if (value !== undefined) settle(value);
          return value !== undefined;
        } catch (error) {
          settle(undefined);
          reject(error);
          return true;
        }
      };
      const waiter: Waiter = { attempt, leave };
      const timer = setTimeout(leave, ms);
      signal?.addEventListener('abort', leave);
      line.add(waiter);
      this.arm(queue);
    });
  }

  /** Call after anything that may have made a message of this queue visible, now or soon. */
  wake(queue: string): void {
    const line = this.lines.get(queue);
    if (line === undefined || line.size === 0) return;
    for (const waiter of [...line]) {
      if (!waiter.attempt()) break;
    }
    this.arm(queue);
  }

  close(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
    for (const line of this.lines.values()) for (const waiter of [...line]) waiter.leave();
  }

  /** Sets the alarm for the next message that becomes visible by time. */
  private arm(queue: string): void {
    clearTimeout(this.timers.get(queue));
    this.timers.delete(queue);
    if ((this.lines.get(queue)?.size ?? 0) === 0) return;
    const at = this.nextVisibleAt(queue);
    if (at === undefined) return;
    // At least a millisecond: a waiter that finds nothing must not spin.
    const timer = setTimeout(() => this.wake(queue), Math.min(Math.max(at - this.now(), 1), 60_000));
    timer.unref();
    this.timers.set(queue, timer);
  }
}
