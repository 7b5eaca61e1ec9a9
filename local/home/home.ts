import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Credentials } from '../functions/environment.ts';
import { StartError } from '../start-error.ts';

/** What other commands on this machine read to reach a running local cloud: `<home>/local.json`. */
export interface LocalFile {
  readonly pid: number;
  readonly url: string;
  readonly gatewayUrl: string;
  readonly region: string;
  /** May do everything behind the gateway; of no use anywhere else. */
  readonly operator: Credentials;
  readonly bootstrapFunction: string;
}

/** The folder that holds all state of a local cloud. */
export interface Home {
  readonly dir: string;
  path(...parts: readonly string[]): string;
  /** The owner's key, made on the first start. */
  apiKey(): string;
  writeLocalFile(content: LocalFile): void;
  readLocalFile(): LocalFile | undefined;
  removeLocalFile(): void;
}

/** @throws StartError when the folder cannot be made */
export const openHome = (dir: string): Home => {
  try {
    mkdirSync(dir, { recursive: true });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartError(`BATON_HOME must be a folder that can be made or is there, not ${dir}: ${why}.`);
  }
  const path = (...parts: readonly string[]): string => join(dir, ...parts);
  return {
    dir,
    path,
    apiKey() {
      const file = path('api-key');
      const kept = read(file)?.trim();
      if (kept !== undefined && kept !== '') return kept;
      const made = `local_${randomBytes(32).toString('base64url')}`;
      writePrivately(file, `${made}\n`);
      return made;
    },
    writeLocalFile: (content) => writePrivately(path('local.json'), `${JSON.stringify(content, undefined, 2)}\n`),
    readLocalFile() {
      const text = read(path('local.json'));
      return text === undefined ? undefined : (JSON.parse(text) as LocalFile);
    },
    removeLocalFile: () => rmSync(path('local.json'), { force: true }),
  };
};

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/** Whole or not at all, and for this user's eyes only. */
const writePrivately = (file: string, content: string): void => {
  writeFileSync(`${file}.new`, content, { mode: 0o600 });
  renameSync(`${file}.new`, file);
};
