import { makeBlobs } from '../aws/blobs.ts';
import { s3 } from '../aws/clients.ts';
import type { Blobs } from '../kernel/ports.ts';
import { ENV } from '../names.ts';
import { makeFiles } from '../resource/files.ts';
import { clock, env, once, table } from './core.ts';

export const blobs = once((): Blobs => makeBlobs({ client: s3(), bucket: env(ENV.bucket) }));

export const filesOf = (orgId: string, executionId: string) =>
  makeFiles({ table: table(), blobs: blobs(), clock, orgId, executionId });
