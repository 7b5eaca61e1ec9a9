import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** A lock that the operating system takes back when its holder dies, however it dies. */
export interface Lock {
  release(): void;
}

const SQLITE_BUSY = 5;

/**
 * Takes a lock without waiting. SQLite's exclusive transaction is used as a portable file lock: a file with a process
 * number in it would have to be judged after a crash, and a number may long belong to another process.
 * @param file is created, and stays empty
 * @returns `undefined` when another process (or another place in this one) holds it
 */
export const tryLock = (file: string): Lock | undefined => {
  mkdirSync(dirname(file), { recursive: true });
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { readonly errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
  return { release: () => database.close() };
};
