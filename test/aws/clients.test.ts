import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

/** The clients read the environment when they are made, so each test loads them afresh. */
const load = async () => {
  vi.resetModules();
  return import('../../lib/aws/clients.ts');
};

describe('the clients', () => {
  let server: Server;
  let requests = 0;

  beforeEach(async () => {
    requests = 0;
    server = createServer(() => {
      requests += 1; // and never an answer
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    vi.stubEnv('AWS_REGION', 'eu-central-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
    vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
  });

  it('are made once, when they are first asked for', async () => {
    const clients = await load();
    for (const client of [clients.dynamoDb, clients.sqs, clients.s3, clients.ssm, clients.eventBridge]) {
      expect(client()).toBe(client());
    }
  });

  it('go to AWS_ENDPOINT_URL, and try again when a table has not answered for 3 s', async () => {
    const { dynamoDb } = await load();
    const abort = new AbortController();
    const started = performance.now();
    const request = dynamoDb().send(new GetCommand({ TableName: 'T', Key: { pk: 'a', sk: 'b' } }), {
      abortSignal: abort.signal,
    });
    const outcome = expect(request).rejects.toMatchObject({ name: 'AbortError' });
    await expect.poll(() => requests, { timeout: 15_000 }).toBe(2);
    expect(performance.now() - started).toBeGreaterThan(2500);
    abort.abort();
    await outcome;
  });

  it('try the table four times in all', async () => {
    const { dynamoDb } = await load();
    expect(await dynamoDb().config.maxAttempts()).toBe(4);
  });

  it('send S3 checksums only where they are required', async () => {
    const { s3 } = await load();
    expect(await s3().config.requestChecksumCalculation()).toBe('WHEN_REQUIRED');
  });
});
