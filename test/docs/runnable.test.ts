import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DemoCloud, startDemoCloud } from '../../scripts/demo/cloud.ts';
import { blocksOf, ROOT, read } from './markdown.ts';

let cloud: DemoCloud;
let folder: string;
let receiverPort: number;

/** Nobody listens there at this moment. */
const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
};
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'docs-test-'));
  receiverPort = await freePort();
  const environment = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    STEP_DELAY_SECONDS: '0',
    EGRESS_ALLOW: `127.0.0.1:${receiverPort}`,
  };
  cloud = await startDemoCloud(new AbortController().signal, environment);
});
afterAll(async () => {
  await cloud?.stop();
  cloud?.forget();
  rmSync(folder, { recursive: true, force: true });
});

interface Ran {
  readonly code: number;
  readonly out: string;
}

/** Both streams, as a reader sees them. */
const run = (file: string, args: readonly string[], more: { readonly [name: string]: string } = {}): Promise<Ran> =>
  new Promise((resolve) => {
    const env = { PATH: process.env.PATH, BATON_URL: cloud.url, BATON_API_KEY: cloud.apiKey, ...more };
    execFile(file, args, { cwd: ROOT, env, timeout: 90_000 }, (error, out, err) =>
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, out: `${out}${err}` }),
    );
  });

describe('the README is run', { timeout: 120_000 }, () => {
  test('its blocks, one after the other in one shell, as a reader pastes them', async () => {
    const blocks = blocksOf(read('README.md')).filter(({ info }) => info[0] === 'sh' && info.includes('run'));
    expect(blocks.length).toBeGreaterThanOrEqual(6);
    const { code, out } = await run('bash', [
      '--norc',
      '-euo',
      'pipefail',
      '-c',
      blocks.map(({ text }) => text).join('\n'),
    ]);
    expect(code, out).toBe(0);
    // What it says along the way, in this order.
    const told = [
      '{"status":"ok"}',
      '"name":"write_file"',
      /agent agt_\w+, run exe_\w+/,
      /1 assistant .*plan/,
      /assistant .*That is all there is to do/,
      '"status":"COMPLETED"',
      '"phase":"think"',
      '"path":"figures/north.csv"',
      '- north: 255',
      'PAUSED',
      // It may have asked its question before it was paused: then it goes back to waiting for the answer.
      /^(RUNNING|WAITING_FOR_INPUT)$/m,
      'Waits for an answer to its question.',
      'All 3 model calls of maxIterations are used. Raise it and resume.',
      '25',
      'RUNNING',
      'Asked for: Mention that the figures are net of tax.',
      /"items":\["[\d-]+T0[56]:30:00.000Z",/,
      'PAUSED',
      'May the work begin?',
      'rejected',
      'enabled',
      '20',
      '"items":',
      'changeOrganisation',
      'A second one',
    ];
    let rest = out;
    for (const each of told) {
      const at = typeof each === 'string' ? rest.indexOf(each) : rest.search(each);
      expect(at, `${each} after what came before it, in:\n${out}`).toBeGreaterThanOrEqual(0);
      rest = rest.slice(at + 1);
    }
  });

  test('npm run status', async () => {
    const { code, out } = await run(process.execPath, ['scripts/status.ts', '--url', cloud.url]);
    expect(out).toMatch(/^0 model +A model is configured\.$/m);
    expect(code).toBe(Number(out.trim().split('\n').at(-1)?.[0]));
    const local = await run(process.execPath, ['scripts/status.ts', '--local'], { BATON_HOME: cloud.home });
    expect(local.out).toBe(out);
  });

  test('npm run bootstrap -- --local makes an organisation whose key works', async () => {
    const options = ['--organisation', 'Other', '--local', '--json'];
    const { code, out } = await run(process.execPath, ['scripts/bootstrap.ts', ...options], { BATON_HOME: cloud.home });
    expect(code, out).toBe(0);
    const { organisationId, apiKey } = JSON.parse(out) as { readonly organisationId: string; readonly apiKey: string };
    const answer = await fetch(`${cloud.url}/v1/organisation`, { headers: { authorization: `Bearer ${apiKey}` } });
    expect(await answer.json()).toMatchObject({ id: organisationId, name: 'Other' });
  });
});

describe('the examples run', { timeout: 120_000 }, () => {
  test('run-agent.ts', async () => {
    const { code, out } = await run(process.execPath, ['examples/run-agent.ts', folder]);
    expect(code, out).toBe(0);
    expect(out).toMatch(/COMPLETED: Rehearsal: hill 65, valley 73; grand total 138/);
    expect(readFileSync(join(folder, 'figures/hill.csv'), 'utf8')).toBe('label,value\napples,40\npears,25\n');
    expect(readFileSync(join(folder, 'report.md'), 'utf8')).toContain('Grand total: 138');
  });

  test('answer-questions.ts', async () => {
    const { code, out } = await run(process.execPath, ['examples/answer-questions.ts', 'Mention the wolves.']);
    expect(code, out).toBe(0);
    expect(out).toContain('Waits for an answer to its question.');
    expect(out).toContain('answered: Mention the wolves.');
    expect(out).toMatch(/COMPLETED: Rehearsal: meadow 19/);
  });

  test('scheduled-run.ts', async () => {
    const { code, out } = await run(process.execPath, ['examples/scheduled-run.ts', String(receiverPort)]);
    expect(code, out).toBe(0);
    expect(out).toMatch(/^sch_\w{26} is due at \d{4}-/m);
    // Events come in no order that anybody promised.
    expect(out).toMatch(/^dlv_\w{26}: \w+ -> COMPLETED\nThe run is COMPLETED\.$/m);
  });

  test('they say what was refused', async () => {
    const { code, out } = await run(process.execPath, ['examples/run-agent.ts', folder], {
      BATON_API_KEY: 'x'.repeat(40),
    });
    expect(code).toBe(1);
    expect(out).toContain('POST /v1/agents answered 401');
  });
});
