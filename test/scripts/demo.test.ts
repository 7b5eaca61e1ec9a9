import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

/** Everything the demo leaves behind would be in here. */
let temporary: string;
const running: ChildProcess[] = [];
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'demo-test-'));
});
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    // It stops its cloud in order; a kill would leave that running.
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  rmSync(temporary, { recursive: true, force: true });
});

interface Started {
  readonly child: ChildProcess;
  output(): string;
  readonly exited: Promise<number | null>;
}

interface Ended {
  readonly code: number | null;
  readonly text: string;
}

const startDemo = (environment: { readonly [name: string]: string } = {}): Started => {
  const child = spawn(process.execPath, ['scripts/demo.ts'], {
    env: { PATH: process.env.PATH, TMPDIR: temporary, STEP_DELAY_SECONDS: '0', LEASE_SECONDS: '1', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  return { child, output: () => output, exited: new Promise((done) => child.once('close', done)) };
};

const homes = (): string[] => readdirSync(temporary).filter((name) => name.startsWith('baton-demo-'));

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('npm run demo', { timeout: 150_000 }, () => {
  test('goes to COMPLETED over a killed process, checks its files and leaves nothing behind', async () => {
    const { output, exited } = startDemo();
    expect(await exited, output()).toBe(0);
    const text = output();
    expect(text).toMatch(/REHEARSAL.*no real language model/);
    expect(text).toMatch(/kill -9 \d+: the process that held the lease of step \d+ is gone/);
    expect(text).toMatch(/Another process took step \d+ over and finished it \d+\.\d s after the kill/);
    expect(text).toContain('[########################] 10 calls');
    expect(text).toMatch(/^COMPLETED after 10 steps$/m);
    expect(text).toMatch(/result +Rehearsal: east 225, north 405, south 280, west 300; grand total 1210/);
    expect(text).toContain('Checked: every file holds what it should');
    expect(text).toContain('npm start');
    // No terminal: plain lines, nothing that moves a cursor.
    expect(text).not.toContain(String.fromCharCode(27));
    expect(homes()).toEqual([]);
  });

  test('Ctrl-C stops all of it', async () => {
    const { child, output, exited } = startDemo({ STEP_DELAY_SECONDS: '30' });
    await vi.waitFor(() => expect(output()).toContain('Its feed:'), 120_000);
    const home = join(temporary, homes()[0] ?? '');
    const pids = Object.values(
      JSON.parse(readFileSync(join(home, 'processes.json'), 'utf8')) as { readonly [name: string]: number[] },
    ).flat();
    const cloud = (JSON.parse(readFileSync(join(home, 'local.json'), 'utf8')) as { readonly pid: number }).pid;
    expect([cloud, ...pids].every(alive)).toBe(true);
    child.kill('SIGINT');
    expect(await exited).toBe(130);
    expect([cloud, ...pids].filter(alive)).toEqual([]);
    expect(homes()).toEqual([]);
    expect(output()).toContain('Stopped; nothing is left behind.');
  });

  test('a cloud that does not come up: its own sentence, and the home is kept', async () => {
    const { output, exited } = startDemo({ LEASE_SECONDS: '0' });
    expect(await exited).toBe(1);
    expect(output()).toMatch(
      /The demo failed: The local cloud did not come up[\s\S]*LEASE_SECONDS must be a whole number/,
    );
    expect(homes()).toHaveLength(1);
    expect(readFileSync(join(temporary, homes()[0] ?? '', 'cloud.log'), 'utf8')).toContain('LEASE_SECONDS');
  });

  const withModel = async (status: number, body: object): Promise<Ended> => {
    const server = createServer((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const { output, exited } = startDemo({ OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_MODEL: 'other' });
    const code = await exited;
    server.close();
    server.closeAllConnections();
    return { code, text: output() };
  };

  test('a model of one is used and named; a run that stops fails with its reason, and the home is kept', async () => {
    const { code, text } = await withModel(401, { error: { message: 'No such key.' } });
    expect(code, text).toBe(1);
    expect(text).toContain('The model is other of OPENAI_BASE_URL');
    expect(text).not.toContain('REHEARSAL');
    expect(text).toMatch(/The demo failed: The run is ERROR_PAUSED: .*No such key/);
    expect(homes()).toHaveLength(1);
    expect(text).toContain(join(temporary, homes()[0] ?? '', 'cloud.log'));
  });

  test('a run that is COMPLETED without the work fails', async () => {
    const message = { role: 'assistant', content: 'All done: 405, 280, 225, 300.' };
    const { code, text } = await withModel(200, {
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'other',
      choices: [{ index: 0, finish_reason: 'stop', message }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    });
    expect(code, text).toBe(1);
    expect(text).toContain('COMPLETED after 1 steps');
    expect(text).toMatch(
      /The demo failed: The files are not right:\n +There are 0 files[^\n]*\n +1210 stands in no file/,
    );
  });
});
