import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Mutation } from './mutations.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Takes a guard out of a copy of the source and lets the simulation loose on it.
 * @returns what the simulation saw; `undefined` when it saw nothing
 * @throws Error when the guard does not stand in the source exactly once
 */
export const hunt = async ({ file, find, put }: Mutation, seconds: number): Promise<string | undefined> => {
  const source = readFileSync(join(ROOT, file), 'utf8');
  if (source.split(find).length !== 2) throw new Error(`${file} does not hold the guard exactly once: ${find}`);
  const copy = mkdtempSync(join(tmpdir(), 'baton-mutant-'));
  try {
    for (const folder of ['lib', 'test/simulation', 'test/support']) {
      cpSync(join(ROOT, folder), join(copy, folder), { recursive: true });
    }
    cpSync(join(ROOT, 'package.json'), join(copy, 'package.json'));
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    writeFileSync(
      join(copy, file),
      source.replace(find, () => put),
    );
    const { stdout } = await promisify(execFile)(process.execPath, ['test/simulation/mutant.ts', String(seconds)], {
      cwd: copy,
      timeout: (seconds + 30) * 1000,
    }).catch((error: { stdout?: string; stderr?: string; code?: number }) => {
      if (error.code === 1 && error.stdout?.includes('nothing found')) return { stdout: undefined };
      throw new Error(`The mutant of ${file} does not run: ${error.stderr ?? ''}`);
    });
    return stdout?.trim();
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
};
