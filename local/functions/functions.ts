import { join } from 'node:path';
import type { Assembly, LocalFunction } from '../template/assembly.ts';
import { type Credentials, type EnvironmentOptions, functionEnvironment } from './environment.ts';
import { makeKeptFile } from './kept-file.ts';
import { openFunctionLog } from './log.ts';
import { watchMemory } from './memory-watch.ts';
import { failed, MAX_PAYLOAD_BYTES, type Outcome } from './outcome.ts';
import { createPool, type Pool } from './pool.ts';
import { startProcess } from './process.ts';
import { startWarden } from './warden.ts';

/** Most processes of a function that is driven by HTTP, by a queue without a cap or with a higher one, and of any other. */
const MAX_HTTP = 8;
const MAX_QUEUE = 8;
const MAX_OTHER = 2;
/**
 * Most processes of all functions together, 80 to 130 MB each: with the local cloud itself they stay below 1.5 GB. Every
 * function may have its first process beyond that.
 */
const MAX_PROCESSES = 10;
const IDLE_MS = 60_000;
/** Waits before the first and the second retry of an asynchronous invocation. Lambda waits one and two minutes. */
const ASYNC_RETRY_MS = [1_000, 3_000] as const;

export interface FunctionsOptions extends EnvironmentOptions {
  readonly assembly: Assembly;
  /** Folder of all state; logs go to `logs/`, process ids to `processes.json`. */
  readonly home: string;
  credentialsOf(roleLogicalId: string): Credentials;
  /** Gets one short line for each error of a function. */
  echo(line: string): void;
  readonly idleMs?: number;
  readonly asyncRetryMs?: readonly number[];
}

/** All functions of the template as processes of this machine. `name` is a function's name or ARN. */
export interface Functions {
  /** Waits for the answer. Unknown functions answer `ResourceNotFoundException`. */
  invoke(name: string, payload: Buffer | string): Promise<Outcome>;
  /** Returns at once; tries again twice, as Lambda does with events. */
  invokeAsync(name: string, payload: Buffer | string): void;
  /** Starts the function's first process before an event asks for it. */
  warm(name: string): void;
  /** Events that the function could take on at once. */
  free(name: string): number;
  /** Kills a process of the function with this name, ARN, logical id or role (logical id). False when it has none. */
  killProcessOf(name: string): boolean;
  close(): Promise<void>;
}

export const startFunctions = (options: FunctionsOptions): Functions => {
  const { assembly } = options;
  const warden = startWarden();
  const pools = new Map<string, Pool>();
  const logs = new Map(
    assembly.functions.map((fn) => [fn.arn, openFunctionLog(join(options.home, 'logs'), fn.name, options.echo)]),
  );
  let closed = false;

  const pids = makeKeptFile(
    join(options.home, 'processes.json'),
    () =>
      JSON.stringify(Object.fromEntries(assembly.functions.map((fn) => [fn.name, pools.get(fn.arn)?.pids() ?? []]))),
    options.echo,
  );

  for (const fn of assembly.functions) {
    const log = logs.get(fn.arn);
    if (log === undefined) continue;
    const start = () =>
      startProcess({
        arn: fn.arn,
        timeoutSeconds: fn.timeoutSeconds,
        memoryMb: fn.memoryMb,
        codeDir: fn.codeDir,
        log,
        warden,
        environment: (runtimeApi) =>
          functionEnvironment(fn, options.credentialsOf(fn.roleLogicalId), options, runtimeApi),
      });
    const idleMs = options.idleMs ?? IDLE_MS;
    const room = (): boolean => makeRoom(pools, fn.arn);
    pools.set(fn.arn, createPool({ max: capOf(fn, assembly), idleMs, start, room, changed: pids.write }));
  }
  pids.write();
  const stopWatching = watchMemory(function* () {
    for (const pool of pools.values()) yield* pool.busy();
  });

  const find = (name: string): LocalFunction | undefined =>
    assembly.functions.find((fn) => name === fn.name || name === fn.arn || name.startsWith(`${fn.arn}:`));

  const invoke = async (name: string, payload: Buffer | string): Promise<Outcome> => {
    const fn = find(name);
    const pool = fn === undefined ? undefined : pools.get(fn.arn);
    if (fn === undefined || pool === undefined) {
      return failed('ResourceNotFoundException', `Function not found: ${name}`);
    }
    if (Buffer.byteLength(payload) > MAX_PAYLOAD_BYTES) {
      return failed('RequestTooLargeException', `The payload is over ${MAX_PAYLOAD_BYTES} bytes.`);
    }
    const outcome = await pool.invoke(payload);
    if (!outcome.ok && !closed)
      logs.get(fn.arn)?.write({ level: 'ERROR', message: 'Invocation failed', ...outcome.error });
    return outcome;
  };

  const invokeWithRetries = async (name: string, payload: Buffer | string): Promise<void> => {
    for (const waitMs of [0, ...(options.asyncRetryMs ?? ASYNC_RETRY_MS)]) {
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
      if (closed || (await invoke(name, payload)).ok) return;
    }
  };

  return {
    invoke,
    invokeAsync(name, payload) {
      void invokeWithRetries(name, payload);
    },
    warm: (name) => pools.get(find(name)?.arn ?? '')?.warm(),
    free: (name) => pools.get(find(name)?.arn ?? '')?.free() ?? 0,
    killProcessOf(name) {
      const fn = find(name) ?? assembly.functions.find((one) => one.roleLogicalId === name || one.logicalId === name);
      return pools.get(fn?.arn ?? '')?.killOne() ?? false;
    },
    async close() {
      closed = true;
      stopWatching();
      await Promise.all([...pools.values()].map((pool) => pool.close()));
      warden.close();
      await pids.written();
      await Promise.all([...logs.values()].map((log) => log.close()));
    },
  };
};

/** Room for one more process of a function: there is some, or the longest idle process of another function makes way. */
const makeRoom = (pools: ReadonlyMap<string, Pool>, arn: string): boolean => {
  const total = [...pools.values()].reduce((sum, pool) => sum + pool.size(), 0);
  if (total < MAX_PROCESSES) return true;
  const [longest] = [...pools]
    .flatMap(([other, pool]) => (other === arn ? [] : [{ pool, since: pool.idleSince() ?? Number.POSITIVE_INFINITY }]))
    .sort((a, b) => a.since - b.since);
  if (longest === undefined || longest.since === Number.POSITIVE_INFINITY) return false;
  longest.pool.endIdle();
  return true;
};

/** Read from what drives the function, so that a new function gets a sensible number without a list here. */
const capOf = (fn: LocalFunction, assembly: Assembly): number => {
  if (assembly.routes.some(({ functionArn }) => functionArn === fn.arn)) return MAX_HTTP;
  const queues = assembly.eventSourceMappings.filter(({ functionArn }) => functionArn === fn.arn);
  const asked = queues.map(({ maxConcurrency }) => maxConcurrency ?? MAX_OTHER);
  return asked.length > 0 ? Math.min(Math.max(...asked), MAX_QUEUE) : MAX_OTHER;
};
