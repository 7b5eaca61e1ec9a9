import { Octokit } from '@octokit/core';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import type { GuardedFetch } from '../tools/tool.ts';
import { makeFetch } from './transport.ts';

const GITHUB = 'https://api.github.com';
/** Named with every request: https://docs.github.com/rest/about-the-rest-api/api-versions */
const API_VERSION = '2022-11-28';
/** A reading is repeated so often where GitHub is down; whoever wants it comes back later besides. */
const RETRIES = 2;
/** A secondary limit that asks for so little is waited out at once, seconds. */
const SHORT_WAIT = 5;

const Reading = Octokit.plugin(retry, throttling);

export interface Clients {
  /** Repeats what failed and keeps GitHub's limits. */
  readonly reading: Octokit;
  /** Sends once. A plugin that repeats a write would make a second comment of a lost answer. */
  readonly writing: Octokit;
}

export interface ClientOptions {
  readonly guarded: GuardedFetch;
  readonly baseUrl: string | undefined;
  /** What shares GitHub's limits: one source. */
  readonly limitsOf: string;
  /** Unit of the wait between repeats, ms. */
  readonly retryBaseMs: number;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

export const makeClients = ({ guarded, baseUrl = GITHUB, limitsOf, retryBaseMs }: ClientOptions): Clients => {
  const common = {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    userAgent: 'baton',
    log: silent,
    request: { fetch: makeFetch(guarded), headers: { 'x-github-api-version': API_VERSION } },
  };
  return {
    writing: new Octokit(common),
    reading: new Reading({
      ...common,
      retry: { retries: RETRIES, retryAfterBaseValue: retryBaseMs },
      throttle: {
        id: limitsOf,
        // The hourly limit is not waited for in here: whoever asks is told when it ends.
        onRateLimit: () => false,
        onSecondaryRateLimit: (after, _options, _octokit, retried) => after <= SHORT_WAIT && retried === 0,
      },
    }),
  };
};
