import type { RequestLog } from '../../lib/observe/logger.ts';
import type { RequestMetrics } from '../../lib/observe/metrics.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly [field: string]: unknown;
}

/** Keeps the lines as they were given: nothing is withheld, so that a test sees what would have been logged. */
export const makeMemoryLog = (): RequestLog & { readonly lines: readonly LogLine[] } => {
  const lines: LogLine[] = [];
  let appended: { readonly [name: string]: unknown } = {};
  const write =
    (level: LogLine['level']) =>
    (message: string, fields: { readonly [name: string]: unknown } = {}): void => {
      lines.push({ ...appended, ...fields, level, message });
    };
  return {
    lines,
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    append(fields) {
      appended = { ...appended, ...fields };
    },
    clear() {
      appended = {};
    },
  };
};

export interface MemoryMetrics extends RequestMetrics {
  /** Sums since the last flush. */
  readonly counts: { readonly [name: string]: number };
  readonly flushed: readonly { readonly [name: string]: number }[];
}

export const makeMemoryMetrics = (): MemoryMetrics => {
  let counts: { [name: string]: number } = {};
  const flushed: { readonly [name: string]: number }[] = [];
  return {
    get counts() {
      return counts;
    },
    flushed,
    count(name, value = 1) {
      counts[name] = (counts[name] ?? 0) + value;
    },
    flush() {
      if (Object.keys(counts).length > 0) flushed.push(counts);
      counts = {};
    },
  };
};
