import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Edit } from './unguarded.ts';

/** A guard and the edit that takes it out. */
export interface Mutation extends Edit {
  /** Number in a list of counterexamples, or the name of a load-bearing guard. */
  readonly guard: string;
  /** Second guards that hold the same: only all together are load-bearing. */
  readonly also?: readonly Edit[];
}

/** The same with files named from the root of the project. */
export const under = (folder: string, mutations: readonly Mutation[]): readonly Mutation[] =>
  mutations.map(({ also = [], ...mutation }) => {
    const named = <E extends Edit>(edit: E): E => ({ ...edit, file: `${folder}/${edit.file}` });
    return { ...named(mutation), also: also.map(named) };
  });

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
 * @param script of `seek`, from the root of the project
 * @returns what it saw; `undefined` when it saw nothing
 * @throws Error when a guard does not stand in its file exactly once, or when its file is not used
 */
export const runMutant = async (
  script: string,
  { guard, also = [], ...edit }: Mutation,
): Promise<string | undefined> => {
  compiled ??= mkdtempSync(join(tmpdir(), 'baton-mutants-'));
  const args = ['--import', './test/simulation/unguarded.ts', script, guard];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: ROOT,
    timeout: 120_000,
    env: { ...process.env, NODE_COMPILE_CACHE: compiled, UNGUARDED: JSON.stringify([edit, ...also]) },
  }).catch((error: { stdout?: string; stderr?: string; code?: number }) => {
    if (error.code === 1 && error.stdout?.includes('nothing found')) return { stdout: undefined };
    throw new Error(`The mutant does not run: ${error.stderr ?? ''}`);
  });
  return stdout?.trim();
};
