import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { memoryFlags } from './environment.ts';
import type { FunctionLog } from './log.ts';
import { failed, type Outcome } from './outcome.ts';
import { startRuntimeApi } from './runtime-api.ts';
import type { Warden } from './warden.ts';

const BOOTSTRAP = fileURLToPath(new URL('./bootstrap.mjs', import.meta.url));
/** How long loading a bundle may take. Lambda gives 10 s on a machine of its own; here many processes share two cores. */
const INIT_TIMEOUT_MS = 30_000;
/** Windows has no stop signal; there a function's timers run on between events. */
const CAN_FREEZE = process.platform !== 'win32';

export interface ProcessOptions {
  readonly arn: string;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  readonly codeDir: string;
  readonly log: FunctionLog;
  readonly warden: Warden;
  /** Environment of the process, given the address of its Runtime API. Nothing else reaches it. */
  environment(runtimeApi: string): { readonly [name: string]: string };
}

/** One process of a function: handles one event at a time, stands still in between. */
export interface FunctionProcess {
  readonly pid: number;
  readonly memoryMb: number;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  isGone(): boolean;
  /** Rejects never. A second event while one runs is a fault of the caller. */
  invoke(requestId: string, payload: Buffer | string): Promise<Outcome>;
  /** Ends it at once; a running event fails with this reason. */
  kill(reason: Outcome): void;
}

interface Running {
  readonly requestId: string;
  readonly settle: (outcome: Outcome) => void;
}

/** Starts a process; it loads its bundle while the first event waits. */
export const startProcess = async (options: ProcessOptions): Promise<FunctionProcess> => {
  let running: Running | undefined;
  let deliver: (() => void) | undefined;
  let waiting = false;
  let ending: Outcome | undefined;
  let gone = false;

  const api = await startRuntimeApi({
    waiting() {
      waiting = true;
      clearTimeout(initTimer);
      if (deliver !== undefined) deliver();
      else freeze();
    },
    finished(requestId, outcome) {
      // The runtime itself failed and is about to exit: no further event may reach this process.
      const fatal = !outcome.ok && outcome.error.errorType.startsWith('Runtime.');
      if (fatal) ending ??= outcome;
      if (running?.requestId === requestId) running.settle(outcome);
      if (fatal) signal('SIGKILL');
    },
    initFailed(outcome) {
      ending ??= outcome;
    },
  });

  const child: ChildProcess = spawn(process.execPath, [...memoryFlags(options.memoryMb), BOOTSTRAP], {
    cwd: options.codeDir,
    env: options.environment(api.address),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const pid = await new Promise<number>((resolve, reject) => {
    child.once('error', reject).once('spawn', () => resolve(child.pid ?? 0));
  });
  child.on('error', () => {});
  child.stdin?.on('error', () => {});
  options.warden.watch(pid);
  options.log.follow(child.stdout, pid);
  options.log.follow(child.stderr, pid);

  const signal = (name: NodeJS.Signals): void => {
    if (!gone) child.kill(name);
  };
  const freeze = (): void => {
    if (CAN_FREEZE) signal('SIGSTOP');
  };
  const kill = (reason: Outcome): void => {
    ending ??= reason;
    signal('SIGKILL');
    running?.settle(ending);
  };
  const initTimer = setTimeout(() => {
    kill(failed('Sandbox.Timedout', `The function did not load its code within ${INIT_TIMEOUT_MS / 1000} seconds.`));
  }, INIT_TIMEOUT_MS);

  const whenGone = new Promise<void>((resolve) => {
    child.once('exit', (code, name) => {
      gone = true;
      clearTimeout(initTimer);
      options.warden.forget(pid);
      api.close();
      running?.settle(ending ?? failed('Runtime.ExitError', exitText(code, name)));
      resolve();
    });
  });

  const run = (requestId: string, payload: Buffer | string): Promise<Outcome> =>
    new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      running = {
        requestId,
        settle(outcome) {
          clearTimeout(timer);
          running = undefined;
          deliver = undefined;
          resolve(outcome);
        },
      };
      deliver = () => {
        deliver = undefined;
        waiting = false;
        timer = setTimeout(() => kill(timedOut(requestId, options.timeoutSeconds)), options.timeoutSeconds * 1000);
        if (CAN_FREEZE) signal('SIGCONT');
        const deadlineMs = Date.now() + options.timeoutSeconds * 1000;
        api.deliver({ requestId, payload, deadlineMs, functionArn: options.arn });
      };
      if (waiting) deliver();
    });

  return {
    pid,
    memoryMb: options.memoryMb,
    gone: whenGone,
    isGone: () => gone || ending !== undefined,
    invoke: (requestId, payload) =>
      gone || ending !== undefined
        ? Promise.resolve(ending ?? failed('Runtime.ExitError', 'The process has ended.'))
        : run(requestId, payload),
    kill,
  };
};

const exitText = (code: number | null, signal: NodeJS.Signals | null): string =>
  `Runtime exited with ${signal === null ? `exit status ${code}` : `signal ${signal}`}`;

const timedOut = (requestId: string, seconds: number): Outcome =>
  failed('Sandbox.Timedout', `RequestId: ${requestId} Error: Task timed out after ${seconds.toFixed(2)} seconds`);
