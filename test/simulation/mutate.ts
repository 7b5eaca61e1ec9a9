import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Mutation } from './mutations.ts';
import type { Edit } from './unguarded.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** What one mutant has compiled the next need not: they differ in one file. */
let compiled: string | undefined;

/** Removes what mutants have compiled; to be called after the last. */
export const forgetMutants = (): void => {
  if (compiled !== undefined) rmSync(compiled, { recursive: true, force: true, maxRetries: 5 });
  compiled = undefined;
};

/**
 * Runs a script that looks for the lack of a guard, over the source without that guard.
 * @returns what it saw; `undefined` when it saw nothing
 * @throws Error when a guard does not stand in its file exactly once, or when its file is not used
 */
export const runMutant = async (script: string, guard: string, edits: readonly Edit[]): Promise<string | undefined> => {
  compiled ??= mkdtempSync(join(tmpdir(), 'baton-mutants-'));
  const args = ['--import', './test/simulation/unguarded.ts', script, guard];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: ROOT,
    timeout: 120_000,
    env: { ...process.env, NODE_COMPILE_CACHE: compiled, UNGUARDED: JSON.stringify(edits) },
  }).catch((error: { stdout?: string; stderr?: string; code?: number }) => {
    if (error.code === 1 && error.stdout?.includes('nothing found')) return { stdout: undefined };
    throw new Error(`The mutant does not run: ${error.stderr ?? ''}`);
  });
  return stdout?.trim();
};

export const hunt = ({ guard, also = [], ...edit }: Mutation): Promise<string | undefined> =>
  runMutant('test/simulation/mutant.ts', guard, [edit, ...also]);
