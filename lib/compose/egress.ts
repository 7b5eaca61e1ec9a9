import { ENV } from '../names.ts';
import { makeGuardedFetch } from '../net/guarded-fetch.ts';
import { makeEndpointJudge } from '../net/judge-endpoint.ts';
import { once } from './core.ts';

/** `host:port` entries that may be reached although they are private. */
export const egressAllow = once((): readonly string[] =>
  (process.env[ENV.egressAllow] ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
);

/** HTTP to addresses that users entered. */
export const guardedFetch = once(() => makeGuardedFetch({ allow: egressAllow() }));

const judge = once(() => makeEndpointJudge(egressAllow()));

/** Why a webhook may not go to an address; `undefined` when it may. */
export const judgeWebhookUrl = (url: string): string | undefined => judge()(url);
