import { createWriteStream, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** Size at which a log file is set aside as `<name>.log.1`, bytes. One older file is kept. */
const ROTATE_BYTES = 20 * 1024 * 1024;
const ECHO_CHARACTERS = 300;

/** Log file of one function: one JSON object per line. */
export interface FunctionLog {
  follow(stream: Readable | null, pid: number): void;
  write(fields: { readonly [key: string]: unknown }): void;
  /** Resolves when all is written. */
  close(): Promise<void>;
}

/**
 * @param dir folder for `<name>.log`
 * @param echo gets one short line for each error, for the terminal
 */
export const openFunctionLog = (dir: string, name: string, echo: (line: string) => void): FunctionLog => {
  mkdirSync(dir, { recursive: true });
  const file = join(dir, `${name}.log`);
  let size = sizeOf(file);
  const open = () =>
    createWriteStream(file, { flags: 'a' }).on('error', (error) => echo(`[${name}] no log: ${error.message}`));
  let stream = open();

  const append = (line: string): void => {
    if (size > ROTATE_BYTES) {
      stream.end();
      renameSync(file, `${file}.1`);
      stream = open();
      size = 0;
    }
    size += line.length + 1;
    stream.write(`${line}\n`);
  };

  const write = (fields: { readonly [key: string]: unknown }): void => {
    append(JSON.stringify({ timestamp: new Date().toISOString(), ...fields }));
    if (fields.level === 'ERROR') echo(brief(name, fields));
  };

  return {
    follow(source, pid) {
      if (source === null) return;
      createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
        const fields = asObject(line);
        if (fields === undefined) return write({ level: 'INFO', pid, message: line });
        append(line);
        const level = String(fields.level ?? '').toUpperCase();
        if (level === 'ERROR' || level === 'FATAL' || level === 'CRITICAL') echo(brief(name, fields));
      });
    },
    write,
    close: () => new Promise((resolve) => stream.end(() => resolve())),
  };
};

const sizeOf = (file: string): number => {
  try {
    return statSync(file).size;
  } catch {
    return 0; // not there yet
  }
};

const asObject = (line: string): { readonly [key: string]: unknown } | undefined => {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as { readonly [key: string]: unknown };
  } catch {
    return undefined;
  }
};

const brief = (name: string, fields: { readonly [key: string]: unknown }): string => {
  const detail = fields.errorMessage ?? (fields.error as { message?: unknown } | undefined)?.message;
  const text = [fields.message, detail].filter((part) => part !== undefined).join(': ');
  return `[${name}] ${text.replaceAll(/\s+/g, ' ').slice(0, ECHO_CHARACTERS)}`;
};
