import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bundles, bundle } from '../../cdk/bundle.ts';
import { projectAt } from './project.ts';
import { scratch } from './scratch.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** What the two adapters take from the packages. */
const HANDLER = `
import OpenAI from 'openai';
import { Agent, buildConnector, fetch, request } from 'undici';

const seen = [];
const connect = (options, callback) => {
  seen.push(options.port);
  buildConnector({ timeout: 1000 })(options, callback);
};
const dispatcher = new Agent({ connect, pipelining: 0 });

export const handler = async (url) => {
  const asked = await request(url, { dispatcher, method: 'POST', body: 'by request' });
  const client = new OpenAI({
    apiKey: 'k',
    baseURL: url + '/v1',
    maxRetries: 0,
    fetch: async (to, init) => {
      const answer = await fetch(String(to), { method: init.method, headers: Object.fromEntries(new Headers(init.headers)), body: init.body, dispatcher });
      return new Response(await answer.text(), { status: answer.status, headers: { 'content-type': 'application/json' } });
    },
  });
  const messages = [{ role: 'user', content: 'hello' }];
  const reply = await client.chat.completions.create({ model: 'm', messages });
  const refused = await client.chat.completions.create({ model: 'refused', messages }).catch((error) => error);
  return {
    asked: await asked.body.text(),
    replied: reply.choices[0].message.content,
    refused: [refused.status, refused instanceof OpenAI.APIError],
    connections: seen.length,
  };
};
`;

/** Like `runModule`, but beside this process, whose server it asks. */
const runBeside = (folder: string, code: string): Promise<string> =>
  new Promise((done, failed) => {
    const file = join(folder, '..', 'ask.mjs');
    writeFileSync(
      file,
      `const { handler } = await import(${JSON.stringify(pathToFileURL(join(folder, 'index.mjs')).href)});\n${code}\n`,
    );
    execFile(process.execPath, [file], { env: {} }, (error, out) => (error === null ? done(out) : failed(error)));
  });

describe('bundles without idle parts', () => {
  let server: Server;
  let bundles: Bundles;
  const output = (name: string) => bundles.metafile.outputs[`bundles/${name}/index.mjs`];

  beforeAll(async () => {
    server = createServer((incoming, response) => {
      let body = '';
      incoming.on('data', (chunk) => {
        body += chunk;
      });
      incoming.on('end', () => {
        const answer = incoming.url?.startsWith('/v1')
          ? JSON.stringify({ choices: [{ message: { role: 'assistant', content: `to ${body.length}` } }] })
          : `got ${body}`;
        response.writeHead(body.includes('refused') ? 401 : 200).end(answer);
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const root = projectAt(scratch());
    for (const name of ['openai', 'undici']) {
      const link = join(root, 'node_modules', name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules', name), link, 'junction');
    }
    writeFileSync(join(root, 'functions/step/handler.ts'), `// @ts-nocheck\n${HANDLER}`);
    bundles = await bundle({ root, out: join(root, 'out') });
  });
  afterAll(() => server.close());

  it('ask over HTTP and call a model as the whole packages do', async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const code = `console.log(JSON.stringify(await handler(${JSON.stringify(url)}))); process.exit(0);`;
    expect(JSON.parse(await runBeside(bundles.folders.step, code))).toEqual({
      asked: 'got by request',
      replied: expect.stringMatching(/^to \d+$/),
      refused: [401, true],
      connections: 3,
    });
  });

  it('hold the parts that are used and none of the others', () => {
    const inputs = Object.entries(output('step')?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 300);
    const files = inputs.map(([file]) => file.replaceAll('\\', '/'));
    const undici = files.filter((file) => file.includes('/undici/lib/'));
    expect(undici.some((file) => file.endsWith('lib/llhttp/llhttp_simd-wasm.js'))).toBe(true);
    expect(undici.filter((file) => /lib\/(mock|interceptor|milo|web\/websocket)\//.test(file))).toEqual([]);
    const resources = files.filter((file) => /openai\/resources\/(?!chat\/)/.test(file));
    expect(resources).toEqual([]);
    expect(files.filter((file) => /openai\/lib\/ChatCompletion(Stream|Runner)/.test(file))).toEqual([]);
  });
});
