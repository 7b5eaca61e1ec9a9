import * as z from 'zod';
import { badRequest, type FieldError } from '../kernel/errors.ts';
import { type AgentConfig, CONFIG_SCHEMAS, type ConfigEntries, DEFAULTS, isKnown } from './config-keys.ts';
import { fieldErrors, shapeOf } from './field-errors.ts';

const KEY = /^[A-Za-z][\w.-]{0,127}$/;
const LONGEST_VALUE = 100 * 1024; // bytes of JSON
/** One row holds the pinned configuration of a run, and a row holds 400 KB. */
const LONGEST_CONFIG = 300 * 1024;
/** One transaction writes an agent with its configuration, and takes 100 writes. */
const MOST_KEYS = 90;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

const valueErrors = (key: string, value: unknown, field: string): FieldError[] => {
  const size = bytesOf(value);
  if (size > LONGEST_VALUE) {
    return [{ field, received: `${size} bytes of JSON`, expected: `at most ${LONGEST_VALUE} bytes` }];
  }
  if (!isKnown(key)) return value === undefined ? [{ field, received: shapeOf(value), expected: 'a JSON value' }] : [];
  const parsed = CONFIG_SCHEMAS[key].safeParse(value);
  return parsed.success ? [] : fieldErrors(parsed.error, value, field);
};

const toolErrors = (key: string, value: unknown, field: string, tools: readonly string[]): FieldError[] => {
  if ((key !== 'tools' && key !== 'permissionTools') || !Array.isArray(value)) return [];
  return value.flatMap((name, i) =>
    typeof name !== 'string' || tools.includes(name)
      ? []
      : [{ field: `${field}[${i}]`, received: `"${name.slice(0, 60)}"`, expected: `one of ${tools.join(', ')}` }],
  );
};

/**
 * Checks entries before they are stored; all wrong ones are told at once.
 * @param tools names of the tools there are
 * @throws AppError 400 naming each field (`config.maxIterations`), the shape received and what was expected
 */
export const checkConfig = (
  entries: ConfigEntries,
  tools: readonly string[],
  fieldFor?: (key: string) => string,
): void => {
  const pairs = Object.entries(entries).map(([key, value]) => ({
    key,
    value,
    field: fieldFor?.(key) ?? `config.${key}`,
  }));
  const unknownTools = pairs.flatMap(({ key, value, field }) => toolErrors(key, value, field, tools));
  const errors = pairs.flatMap(({ key, value, field }) => [
    ...keyErrors(key, field),
    ...valueErrors(key, value, field),
  ]);
  const [first] = [...errors, ...unknownTools];
  if (first === undefined) {
    checkSize(entries);
    return;
  }
  const message = `${first.field}: received ${first.received}, expected ${first.expected}.`;
  throw badRequest(message, [...errors, ...unknownTools], errors.length === 0 ? 'unknown_tool' : 'bad_request');
};

const keyErrors = (key: string, field: string): FieldError[] => {
  if (KEY.test(key)) return [];
  const expected = 'a key of 1 to 128 letters, digits, _, . and -, beginning with a letter';
  return [{ field, received: `key of ${key.length} characters`, expected }];
};

/** @throws AppError 400 when a whole configuration has too many keys or does not fit into one row */
export const checkSize = (entries: ConfigEntries): void => {
  const count = Object.keys(entries).length;
  const size = bytesOf(entries);
  if (count <= MOST_KEYS && size <= LONGEST_CONFIG) return;
  const received = `${count} keys, ${size} bytes of JSON`;
  const expected = `at most ${MOST_KEYS} keys and ${LONGEST_CONFIG} bytes in all`;
  throw badRequest('The configuration is too large.', [{ field: 'config', received, expected }], 'config_too_large');
};

/** `overrides` win key by key. */
export const mergeConfig = (agent: ConfigEntries, overrides: ConfigEntries): ConfigEntries => ({
  ...agent,
  ...overrides,
});

/**
 * Splits checked entries into the typed part, defaults filled in, and the rest as it was given.
 * @throws AppError 400 when a known key does not have its type
 */
export const parseConfig = (entries: ConfigEntries): { readonly config: AgentConfig; readonly rest: ConfigEntries } => {
  const known = Object.entries(entries).filter(([key]) => isKnown(key));
  const parsed = knownSchema.safeParse(Object.fromEntries(known));
  if (!parsed.success) {
    throw badRequest('The configuration does not fit.', fieldErrors(parsed.error, entries, 'config'));
  }
  const given = Object.fromEntries(Object.entries(parsed.data).filter(([, value]) => value !== undefined));
  const rest = Object.fromEntries(Object.entries(entries).filter(([key]) => !isKnown(key)));
  return { config: { ...copyOfDefaults(), ...given }, rest };
};

const knownSchema = z.object(CONFIG_SCHEMAS).partial();

/** A copy, so that no caller can change the defaults of the process. */
const copyOfDefaults = (): AgentConfig => structuredClone(DEFAULTS);
