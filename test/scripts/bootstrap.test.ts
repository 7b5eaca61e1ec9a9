import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'baton-bootstrap-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const run = (...options: string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const env = { PATH: process.env.PATH, HOME: home, BATON_HOME: home, AWS_EC2_METADATA_DISABLED: 'true' };
    execFile(process.execPath, ['scripts/bootstrap.ts', ...options], { env }, (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    );
  });

/** Answers every invocation as Lambda would. */
const gateway = async (
  answer: (
    request: { readonly url: string; readonly payload: { readonly [name: string]: string } },
    response: ServerResponse,
  ) => void,
) => {
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    answer({ url: request.url ?? '', payload: JSON.parse(Buffer.concat(chunks).toString()) }, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const local = {
    url: 'http://127.0.0.1:4000',
    gatewayUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'us-east-1',
    operator: { accessKeyId: 'AKIAOPERATOR', secretAccessKey: 'secret' },
    bootstrapFunction: 'baton-local-bootstrap',
  };
  await writeFile(join(home, 'local.json'), JSON.stringify(local));
  return { close: () => new Promise((resolve) => server.close(resolve)) };
};

describe('npm run bootstrap', () => {
  it('asks the local cloud and prints one line of JSON', async () => {
    const seen: string[] = [];
    const cloud = await gateway(({ url, payload }, response) => {
      seen.push(url, payload.organisation ?? '');
      response.end(JSON.stringify({ organisationId: 'org_1', apiKey: payload.apiKey }));
    });
    const { code, out } = await run('--organisation', 'Other', '--local', '--json');
    await cloud.close();
    expect(code).toBe(0);
    expect(out.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(out)).toEqual({ organisationId: 'org_1', apiKey: expect.stringMatching(/^baton_/) });
    expect(seen).toEqual(['/2015-03-31/functions/baton-local-bootstrap/invocations', 'Other']);
  });

  it('repeats what the function refused', async () => {
    const cloud = await gateway((_, response) => {
      response.setHeader('x-amz-function-error', 'Unhandled');
      response.end(JSON.stringify({ errorType: 'AppError', errorMessage: 'The organisation has no usable name.' }));
    });
    const { code, out, err } = await run('--organisation', 'x', '--local', '--json');
    await cloud.close();
    expect([code, out, err]).toEqual([1, '', 'The organisation has no usable name.\n']);
  });

  it('says when no local cloud runs, before and after one did', async () => {
    const before = await run('--organisation', 'x', '--local');
    expect([before.code, before.err]).toEqual([1, expect.stringContaining('npm start')]);
    const cloud = await gateway((_, response) => response.end());
    await cloud.close();
    const after = await run('--organisation', 'x', '--local');
    expect([after.code, after.err]).toEqual([1, expect.stringContaining('Nothing answers')]);
    await writeFile(join(home, 'local.json'), '{"gatewayUrl"');
    const damaged = await run('--organisation', 'x', '--local');
    expect([damaged.code, damaged.err]).toEqual([1, expect.stringContaining('cannot be read')]);
  });

  it('says what is missing', async () => {
    expect((await run()).err).toContain('--organisation is missing');
    expect((await run('--what')).err).toContain('Usage:');
    const noRegion = await run('--organisation', 'x');
    expect([noRegion.code, noRegion.err]).toEqual([1, expect.stringContaining('AWS region')]);
  });
});
