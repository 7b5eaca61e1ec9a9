/**
 * Creates an agent, follows a run of it to its end and saves the files it made. Needs a running cloud and nothing but Node:
 *
 *   BATON_URL=http://127.0.0.1:4000 BATON_API_KEY=… npx node examples/run-agent.ts [FOLDER]
 *
 * Without the variables it talks to the local cloud of `npm start` in this folder.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const url = process.env.BATON_URL ?? 'http://127.0.0.1:4000';
const key = process.env.BATON_API_KEY ?? readFileSync(`${process.env.BATON_HOME ?? '.baton'}/api-key`, 'utf8').trim();
const folder = process.argv[2] ?? 'agent-files';

const call = async (method: string, path: string, body?: object): Promise<Response> => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  // Refusals are problem documents; `code` is stable and `detail` is for people.
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response;
};

const agent = (await (
  await call('POST', '/v1/agents', {
    name: 'Harvest report',
    config: {
      goals: ['Put the harvest into files, one for each orchard, read them back, and report the totals.'],
      instructions: ['hill: apples 40, pears 25', 'valley: apples 61, pears 12'],
      maxIterations: 20,
    },
  })
).json()) as { readonly id: string };

const { id } = (await (await call('POST', `/v1/agents/${agent.id}/executions`, {})).json()) as { readonly id: string };
console.log(`run ${id}`);

interface Page {
  readonly items: readonly { readonly seq: number; readonly role: string; readonly content: string }[];
  readonly nextCursor: string;
}
interface Run {
  readonly status: string;
  readonly result?: string;
  readonly costUsd: number;
  readonly error?: { readonly message: string };
}

let run: Run;
let after = '';
do {
  // The status is read first, so that a run that has ended has all of its feed in the page that follows.
  run = (await (await call('GET', `/v1/executions/${id}`)).json()) as Run;
  const query = new URLSearchParams({ after, limit: '1000', wait: run.status === 'RUNNING' ? '20' : '0' });
  const page = (await (await call('GET', `/v1/executions/${id}/feed?${query}`)).json()) as Page;
  for (const { seq, role, content } of page.items) console.log(`${seq} ${role}: ${content}`);
  after = page.nextCursor;
} while (run.status === 'RUNNING');

const { items } = (await (await call('GET', `/v1/executions/${id}/files?limit=1000`)).json()) as {
  readonly items: readonly { readonly path: string }[];
};
for (const { path } of items) {
  // Paths of files are relative and never go up; that was checked when the file was written.
  const target = join(folder, path);
  mkdirSync(dirname(target), { recursive: true });
  const place = path.split('/').map(encodeURIComponent).join('/');
  writeFileSync(target, Buffer.from(await (await call('GET', `/v1/executions/${id}/files/${place}`)).arrayBuffer()));
  console.log(`saved ${target}`);
}

console.log(`${run.status}: ${run.result ?? run.error?.message ?? ''} ($${run.costUsd})`);
process.exitCode = run.status === 'COMPLETED' ? 0 : 1;
