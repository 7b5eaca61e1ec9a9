import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Mutation } from './mutations.ts';

const ROOT = resolve(import.meta.dirname, '../../../..');

/**
 * Takes a guard out of a copy of the source and lets the simulation loose on it.
 * @returns what the simulation saw; `undefined` when it saw nothing
 * @throws Error when the guard does not stand in the source exactly once
 */
export const hunt = async ({ guard, also = [], ...edit }: Mutation): Promise<string | undefined> => {
  const copy = mkdtempSync(join(tmpdir(), 'baton-thread-mutant-'));
  try {
    for (const folder of ['lib', 'test/simulation', 'test/router', 'test/support']) {
      cpSync(join(ROOT, folder), join(copy, folder), { recursive: true });
    }
    cpSync(join(ROOT, 'package.json'), join(copy, 'package.json'));
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    for (const { file, find, put } of [edit, ...also]) {
      const path = join(copy, 'lib/router', file);
      const source = readFileSync(path, 'utf8');
      if (source.split(find).length !== 2) throw new Error(`${file} does not hold this exactly once: ${find}`);
      writeFileSync(
        path,
        source.replace(find, () => put),
      );
    }
    const script = 'test/router/thread/simulation/mutant.ts';
    const { stdout } = await promisify(execFile)(process.execPath, [script, guard], {
      cwd: copy,
      timeout: 120_000,
    }).catch((error: { stdout?: string; stderr?: string; code?: number }) => {
      if (error.code === 1 && error.stdout?.includes('nothing found')) return { stdout: undefined };
      throw new Error(`The mutant does not run: ${error.stderr ?? ''}`);
    });
    return stdout?.trim();
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
};
