import { spawn } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock } from '../home/lock.ts';
import { StartError } from '../start-error.ts';
import { sourceHash } from './source-hash.ts';

/** Builds kept besides the current one: another local cloud may still run from an older one. */
const KEPT = 5;

export interface BuildOptions {
  readonly root: string;
  /** Where builds are kept. */
  readonly cacheDir: string;
  /** Called when something is really built. */
  building(): void;
}

/** A folder in `node_modules` that `npm ci` empties; where that cannot be written, one in the home. */
export const cacheFolder = (root: string, home: string): string => {
  try {
    accessSync(join(root, 'node_modules'), constants.W_OK);
    return join(root, 'node_modules', '.cache', 'baton', 'local');
  } catch {
    return join(home, 'cache');
  }
};

/** The cloud assembly of the sources as they are; made only when no kept one has the same content. @throws StartError */
export const buildAssembly = async (options: BuildOptions): Promise<string> => {
  const target = join(options.cacheDir, sourceHash(options.root));
  if (!existsSync(target)) {
    options.building();
    mkdirSync(options.cacheDir, { recursive: true });
    let lock = tryLock(join(options.cacheDir, 'build.lock'));
    for (; lock === undefined; lock = tryLock(join(options.cacheDir, 'build.lock'))) await sleep(100);
    try {
      // Whoever held the lock may have built this very thing.
      if (!existsSync(target)) await synthesize(options.root, target);
    } finally {
      lock.release();
    }
  }
  const now = new Date();
  utimesSync(target, now, now);
  prune(options.cacheDir);
  return target;
};

const synthesize = async (root: string, target: string): Promise<void> => {
  const unfinished = `${target}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  const child = spawn(process.execPath, ['cdk/app.ts'], {
    cwd: root,
    // Without the caller's AWS profile and region: the same sources give the same template.
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: process.env.TMPDIR,
      CDK_OUTDIR: unfinished,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (code !== 0)
    throw new StartError(`The template could not be built (node cdk/app.ts):\n${output.trim().slice(-4000)}`);
  renameSync(unfinished, target);
};

const prune = (cacheDir: string): void => {
  const builds = readdirSync(cacheDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^[0-9a-f]{20}$/.test(entry.name))
    .map(({ name }) => ({ path: join(cacheDir, name), used: statSync(join(cacheDir, name)).mtimeMs }))
    .sort((a, b) => b.used - a.used);
  for (const { path } of builds.slice(KEPT)) rmSync(path, { recursive: true, force: true });
};
