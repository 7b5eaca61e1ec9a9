import { resolve } from 'node:path';
import { ENV, LOCAL_OVERRIDES } from '../lib/names.ts';
import { type Chaos, createChaos } from './gateway/chaos.ts';
import { StartError } from './start-error.ts';

/** The operator's own model account. */
export interface ModelAccount {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
}

export interface Settings {
  /** 0 picks a free one. */
  readonly port: number;
  /** Absolute. */
  readonly home: string;
  /** `undefined`: the one kept in the home. */
  readonly apiKey: string | undefined;
  /** `undefined`: the rehearsal model stands in. */
  readonly model: ModelAccount | undefined;
  /** Values that stand above the template's. */
  readonly overrides: { readonly [name: string]: string };
  readonly chaos: Chaos;
  /** Absolute; a file that gets one line for each request to an emulated service. `undefined`: none is written. */
  readonly trace: string | undefined;
}

type Environment = { readonly [name: string]: string | undefined };

/** Leases are short here, so that a crash is seen to heal; on AWS the template's value holds. */
const DEFAULT_LEASE_SECONDS = '5';

/** Reads the environment of the local cloud (contract, "Environment"). An empty value counts as none. @throws StartError */
export const readSettings = (environment: Environment): Settings => {
  const value = (name: string): string | undefined => environment[name] || undefined;
  return {
    port: wholeNumber('PORT', value('PORT') ?? '4000', 0, 65_535),
    home: resolve(value('BATON_HOME') ?? '.baton'),
    apiKey: readApiKey(value('BATON_API_KEY')),
    model: readModel(value('OPENAI_BASE_URL'), value('OPENAI_API_KEY'), value('OPENAI_MODEL')),
    overrides: readOverrides(value),
    chaos: readChaos(value('BATON_CHAOS') ?? ''),
    trace: value('BATON_TRACE') && resolve(value('BATON_TRACE') ?? ''),
  };
};

const wholeNumber = (name: string, text: string, least: number, most: number): number => {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least && number <= most)) {
    throw new StartError(`${name} must be a whole number from ${least} to ${most}, not ${JSON.stringify(text)}.`);
  }
  return number;
};

const readChaos = (text: string): Chaos => {
  try {
    return createChaos(text);
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error));
  }
};

const readApiKey = (key: string | undefined): string | undefined => {
  if (key !== undefined && !/^[\x21-\x7e]{32,}$/.test(key)) {
    throw new StartError(
      `BATON_API_KEY must be at least 32 characters of printable ASCII without spaces; it has ${key.length} characters.`,
    );
  }
  return key;
};

const readModel = (
  baseUrl: string | undefined,
  apiKey: string | undefined,
  model: string | undefined,
): ModelAccount | undefined => {
  if (baseUrl === undefined && apiKey === undefined) return undefined;
  if (baseUrl !== undefined && !/^https?:\/\//.test(baseUrl)) {
    throw new StartError(`OPENAI_BASE_URL must begin with http:// or https://, not ${JSON.stringify(baseUrl)}.`);
  }
  return {
    baseUrl: baseUrl ?? 'https://api.openai.com/v1',
    // Servers of one's own often take no key, the protocol's client insists on one.
    apiKey: apiKey ?? 'none',
    model: model ?? 'gpt-4o-mini',
  };
};

const readOverrides = (value: (name: string) => string | undefined): { readonly [name: string]: string } => {
  const given = Object.fromEntries(
    LOCAL_OVERRIDES.flatMap((name) => (value(name) === undefined ? [] : [[name, value(name)]])),
  );
  const overrides: { [name: string]: string } = { [ENV.leaseSeconds]: DEFAULT_LEASE_SECONDS, ...given };
  const delay = overrides[ENV.stepDelaySeconds];
  if (delay !== undefined) wholeNumber(ENV.stepDelaySeconds, delay, 0, 900);
  wholeNumber(ENV.leaseSeconds, overrides[ENV.leaseSeconds] ?? '', 1, 900);
  for (const host of (overrides[ENV.egressAllow] ?? '').split(',').map((part) => part.trim())) {
    if (host !== '' && !/^(\[[0-9a-f:.]+\]|[^\s:/]+):\d{1,5}$/i.test(host)) {
      throw new StartError(`EGRESS_ALLOW must be a comma list of host:port, and ${JSON.stringify(host)} is none.`);
    }
  }
  return overrides;
};
