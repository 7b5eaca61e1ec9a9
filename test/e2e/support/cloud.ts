import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Api, makeApi } from './api.ts';
import { forgetGroup, keepGroup, signalGroup } from './groups.ts';

export const ROOT = resolve(import.meta.dirname, '../../..');
const UP_MS = 90_000;
export const OWNER_KEY = 'owner-key-of-the-tests-0123456789abcdef';

export interface LocalFile {
  readonly pid: number;
  readonly url: string;
  readonly gatewayUrl: string;
  readonly region: string;
  readonly operator: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** One process of the local cloud, whether it comes up or not. */
export interface Started {
  readonly child: ChildProcess;
  readonly pid: number;
  /** All it has printed so far. */
  output(): string;
  /** Exit code; `null` after a signal. */
  readonly exited: Promise<number | null>;
}

export type Environment = { readonly [name: string]: string };

/** A fresh folder for the state of a local cloud; the caller removes it. */
export const newHome = (): string => mkdtempSync(join(tmpdir(), 'baton-e2e-'));

/** `npm start` without npm, leader of its own process group; sees nothing of the caller's environment but PATH. */
export const spawnCloud = (
  home: string,
  environment: Environment = {},
  command = [process.execPath, 'local/main.ts'],
): Started => {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: '0',
      BATON_HOME: home,
      BATON_API_KEY: OWNER_KEY,
      STEP_DELAY_SECONDS: '0',
      ...environment,
    },
  });
  const pid = child.pid ?? 0;
  keepGroup(pid);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  return { child, pid, output: () => output, exited };
};

/** Waits until it says that it is up. @throws Error with what it printed instead */
export const whenUp = async (started: Started): Promise<void> => {
  let gone = false;
  void started.exited.then(() => (gone = true));
  const until = performance.now() + UP_MS;
  while (!started.output().includes('Ctrl-C stops.')) {
    if (gone) throw new Error(`The local cloud ended instead of coming up:\n${started.output()}`);
    if (performance.now() > until) throw new Error(`No local cloud after ${UP_MS} ms:\n${started.output()}`);
    await new Promise((done) => setTimeout(done, 20));
  }
};

export interface Cloud extends Api {
  readonly home: string;
  /** Of the process that runs now. */
  started(): Started;
  local(): LocalFile;
  /** Parsed lines of a function's log, oldest first. */
  log(functionName: string): readonly { readonly [field: string]: unknown }[];
  /** `kill -9` of the whole process group. */
  kill(): Promise<void>;
  /** Another process on the same home. */
  start(): Promise<void>;
  /** Ctrl-C. @returns the exit code */
  interrupt(): Promise<number | null>;
  /** Ends it and removes the home. */
  stop(): Promise<void>;
}

/** The local cloud of this checkout on a free port and a temporary home. */
export const startCloud = async (environment: Environment = {}): Promise<Cloud> => {
  const home = newHome();
  let started = spawnCloud(home, environment);
  let address = '';
  const start = async (): Promise<void> => {
    await whenUp(started);
    address = /address +(\S+)/.exec(started.output())?.[1] ?? '';
  };
  const kill = async (): Promise<void> => {
    signalGroup(started.pid, 'SIGKILL');
    await started.exited;
  };
  const stop = async (): Promise<void> => {
    await kill();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ...makeApi(() => address, OWNER_KEY),
    home,
    started: () => started,
    local: () => JSON.parse(readFileSync(join(home, 'local.json'), 'utf8')) as LocalFile,
    log: (functionName) => readLog(join(home, 'logs', `baton-dev-${functionName}.log`)),
    kill,
    async start() {
      started = spawnCloud(home, environment);
      await start();
    },
    async interrupt() {
      signalGroup(started.pid, 'SIGINT');
      const code = await started.exited;
      forgetGroup(started.pid);
      return code;
    },
    stop,
  };
};

/** Parsed lines of a log file; none when there is no file yet. */
export const readLog = (file: string): { readonly [field: string]: unknown }[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as { readonly [field: string]: unknown }];
      } catch {
        return []; // the last line may be half written
      }
    });
