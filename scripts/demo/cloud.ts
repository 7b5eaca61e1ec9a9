import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = resolve(import.meta.dirname, '../..');
/** With nothing built yet, on a slow machine. */
const UP_WITHIN_MS = 120_000;
const STOP_WITHIN_MS = 5_000;

/** A local cloud of the demo's own: free port, temporary home, own process group. */
export interface DemoCloud {
  readonly url: string;
  readonly apiKey: string;
  readonly home: string;
  /** Ends all of its processes. */
  stop(): Promise<void>;
  /** Ends all of them at once, with nothing left to do. The home stays. */
  kill(): Promise<void>;
  /** Deletes the home. */
  forget(): void;
}

const ownProcessGroup = process.platform !== 'win32';

const signalGroup = (child: ChildProcess, signal: NodeJS.Signals): void => {
  try {
    if (child.pid !== undefined) process.kill(ownProcessGroup ? -child.pid : child.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

const readIfThere = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/**
 * Starts `local/main.ts` with the caller's environment, the model account included. What it prints goes to `cloud.log` in
 * its home.
 * @param environment stands in place of the caller's
 * @param kept the home of a cloud that was killed, to go on with
 * @throws Error with what it said when it does not come up; the home is kept then
 */
export const startDemoCloud = async (
  signal: AbortSignal,
  environment: { readonly [name: string]: string | undefined } = process.env,
  kept?: string,
): Promise<DemoCloud> => {
  const home = kept ?? mkdtempSync(join(tmpdir(), 'baton-demo-'));
  const log = openSync(join(home, 'cloud.log'), 'a');
  const { BATON_API_KEY: _, ...inherited } = environment;
  const child = spawn(process.execPath, ['local/main.ts'], {
    cwd: ROOT,
    env: { ...inherited, PORT: '0', BATON_HOME: home },
    stdio: ['ignore', log, log],
    // A group of its own: Ctrl-C reaches the demo alone, which then stops the cloud in order.
    detached: ownProcessGroup,
  });
  closeSync(log);
  const exited = new Promise<void>((done) => {
    child.once('exit', () => done()).once('error', () => done());
  });
  const kill = async (): Promise<void> => {
    signalGroup(child, 'SIGKILL');
    await exited;
  };
  const stop = async (): Promise<void> => {
    signalGroup(child, 'SIGTERM');
    await Promise.race([exited, sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
    await kill();
  };
  const forget = (): void => rmSync(home, { recursive: true, force: true, maxRetries: 5 });

  try {
    const until = Date.now() + UP_WITHIN_MS;
    while (Date.now() < until) {
      signal.throwIfAborted();
      if (child.exitCode !== null || child.pid === undefined) break;
      const local = readIfThere(join(home, 'local.json'));
      if (local !== undefined) {
        const { url } = JSON.parse(local) as { readonly url: string };
        const healthy = await fetch(`${url}/health`, { signal }).then(
          (response) => response.ok,
          () => false,
        );
        const apiKey = readIfThere(join(home, 'api-key'))?.trim();
        if (healthy && apiKey !== undefined) return { url, apiKey, home, stop, kill, forget };
      }
      await sleep(100, undefined, { signal });
    }
    const said = readIfThere(join(home, 'cloud.log'))?.trim() ?? '';
    throw new Error(
      `The local cloud did not come up. Its home is ${home}. It said:\n${said.slice(-4_000) || 'nothing'}`,
    );
  } catch (error) {
    await stop();
    if (signal.aborted) forget();
    throw error;
  }
};
