import { cachedSecrets } from '../aws/cached.ts';
import { ssm } from '../aws/clients.ts';
import { makeSecrets } from '../aws/secrets.ts';
import { ENV } from '../names.ts';
import type { IngestDeps } from '../router/ingest/ingest.ts';
import { blobs } from './bucket.ts';
import { channels } from './channels.ts';
import { clock, env, ids, inbox, log, once, table } from './core.ts';

/** Without a model and without a fetch: this one answers providers that wait for seconds, also when it is cold. */
export const ingestDeps = once(
  (): IngestDeps => ({
    table: table(),
    blobs: blobs(),
    secrets: cachedSecrets(makeSecrets({ client: ssm(), prefix: env(ENV.secretPrefix) }), clock),
    inbox: inbox(),
    clock,
    ids,
    log,
    channels,
  }),
);
