import { Logger } from '@aws-lambda-powertools/logger';
import type { Log } from '../kernel/ports.ts';
import { redact, scrub } from './redact.ts';

type Fields = { readonly [name: string]: unknown };

/** The log of one process; what is appended belongs to the invocation and is cleared with it. */
export interface RequestLog extends Log {
  /** Puts fields (`executionId`, `seq`, `orgId`, …) on every further line of this invocation. */
  append(fields: Fields): void;
  /** Takes back what was appended: a frozen process serves another tenant next. */
  clear(): void;
}

/** Powertools drops these with a warning of its own. */
const RESERVED: ReadonlySet<string> = new Set(['level', 'message', 'sampling_rate', 'service', 'timestamp']);

/**
 * Lines of JSON on stdout by Powertools Logger; the service's name comes from `POWERTOOLS_SERVICE_NAME`, the level from
 * `POWERTOOLS_LOG_LEVEL` (default INFO). Every field goes through `redact`.
 */
export const makeLog = (logger: Logger = new Logger()): RequestLog => {
  const fieldsOf = (fields: Fields | undefined): { [name: string]: unknown } =>
    Object.fromEntries(
      Object.entries(redact(fields ?? {})).map(([name, value]) => [RESERVED.has(name) ? `${name}_` : name, value]),
    );
  return {
    debug: (message, fields) => logger.debug(scrub(message), fieldsOf(fields)),
    info: (message, fields) => logger.info(scrub(message), fieldsOf(fields)),
    warn: (message, fields) => logger.warn(scrub(message), fieldsOf(fields)),
    error: (message, fields) => logger.error(scrub(message), fieldsOf(fields)),
    append: (fields) => logger.appendKeys(fieldsOf(fields)),
    clear: () => logger.resetKeys(),
  };
};
