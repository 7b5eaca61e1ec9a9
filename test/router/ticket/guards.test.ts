import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { MUTATIONS, type Mutation } from './mutations.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** What was seen in a copy of the source that lacks the guard; `undefined` when nothing was. */
const hunt = async ({ file, find, put }: Mutation): Promise<string | undefined> => {
  const copy = mkdtempSync(join(tmpdir(), 'baton-ticket-mutant-'));
  try {
    for (const folder of ['lib', 'test/router', 'test/simulation', 'test/support']) {
      cpSync(join(ROOT, folder), join(copy, folder), { recursive: true });
    }
    cpSync(join(ROOT, 'package.json'), join(copy, 'package.json'));
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    const path = join(copy, 'lib/router/ticket', file);
    const source = readFileSync(path, 'utf8');
    if (source.split(find).length !== 2) throw new Error(`${file} does not hold the guard exactly once: ${find}`);
    writeFileSync(
      path,
      source.replace(find, () => put),
    );
    const options = { cwd: copy, timeout: 120_000 };
    const { stdout } = await promisify(execFile)(process.execPath, ['test/router/ticket/mutant.ts'], options).catch(
      (error: { stdout?: string; stderr?: string; code?: number }) => {
        if (error.code === 1 && error.stdout?.includes('nothing found')) return { stdout: undefined };
        throw new Error(`The mutant does not run: ${error.stderr ?? ''}`);
      },
    );
    return stdout?.trim();
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
};

describe('playing everything at once misses each guard that is taken out of the source', () => {
  it.each(MUTATIONS)(
    '$guard',
    async (mutation) => {
      expect(await hunt(mutation)).toMatch(/./);
    },
    150_000,
  );
});
