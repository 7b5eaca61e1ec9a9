import { HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeBlobs } from '../../lib/aws/blobs.ts';
import type { Blobs } from '../../lib/kernel/ports.ts';
import { LOCAL_ACCESS } from '../support/json-wire.ts';
import { makeMemoryBlobs } from '../support/memory-blobs.ts';
import { blobsContract } from './blobs.contract.ts';

describe('the blobs in memory', () => {
  const blobs = makeMemoryBlobs();
  blobsContract(() => blobs);
});

describe('the blobs in S3, over the wire', () => {
  let server: FauxqsServer;
  let client: S3Client;
  let blobs: Blobs;

  beforeAll(async () => {
    server = await startFauxqs({ port: 0, logger: false });
    server.createBucket('blobs');
    client = new S3Client({
      ...LOCAL_ACCESS,
      endpoint: `http://127.0.0.1:${server.port}`,
      requestChecksumCalculation: 'WHEN_REQUIRED',
    });
    blobs = makeBlobs({ client, bucket: 'blobs' });
  });
  afterAll(async () => {
    client.destroy();
    await server.stop();
  });

  blobsContract(() => blobs);

  it('keeps the content type', async () => {
    await blobs.put('typed', new Uint8Array([1]), 'text/markdown; charset=utf-8');
    const head = await client.send(new HeadObjectCommand({ Bucket: 'blobs', Key: 'typed' }));
    expect(head.ContentType).toBe('text/markdown; charset=utf-8');
  });

  it('passes on what is not about a missing object: a missing bucket', async () => {
    const elsewhere = makeBlobs({ client, bucket: 'no-such-bucket' });
    await expect(elsewhere.get('key')).rejects.toMatchObject({ name: 'NoSuchBucket' });
  });
});
