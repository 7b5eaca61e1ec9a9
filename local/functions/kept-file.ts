import { rename, writeFile } from 'node:fs/promises';

/** A file that follows what its text is made of. */
export interface KeptFile {
  /** Returns at once: a disk may take a while, and everything else of the local cloud would stand still meanwhile. */
  write(): void;
  /** Resolves when the file holds what the last `write` was called for. */
  written(): Promise<void>;
}

/**
 * Readers see whole contents only. Writes that are asked for while one is under way become one.
 * @param echo gets a line when the file cannot be written
 */
export const makeKeptFile = (path: string, text: () => string, echo: (line: string) => void): KeptFile => {
  let stale = false;
  let writing: Promise<void> | undefined;
  const write = async (): Promise<void> => {
    while (stale) {
      stale = false;
      await writeFile(`${path}.new`, text());
      await rename(`${path}.new`, path);
    }
  };
  return {
    write() {
      stale = true;
      writing ??= write()
        .catch((error: unknown) => echo(`${path} cannot be written: ${String(error)}`))
        .finally(() => {
          writing = undefined;
        });
    },
    written: async () => writing,
  };
};
