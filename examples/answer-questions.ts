/**
 * A run that has to ask a person, and the program that answers for one: it waits while the run waits, and gives the same
 * answer to whatever is asked. A chat bot or a form would stand in its place.
 *
 *   BATON_URL=http://127.0.0.1:4000 BATON_API_KEY=… npx node examples/answer-questions.ts [ANSWER]
 *
 * Without the variables it talks to the local cloud of `npm start` in this folder.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const url = process.env.BATON_URL ?? 'http://127.0.0.1:4000';
const key = process.env.BATON_API_KEY ?? readFileSync(`${process.env.BATON_HOME ?? '.baton'}/api-key`, 'utf8').trim();
const answer = process.argv[2] ?? 'Say that the lambs are counted too.';

interface Run {
  readonly id: string;
  readonly status: string;
  readonly result?: string;
  readonly now?: { readonly sentence: string };
}

const call = async (method: string, path: string, body?: object): Promise<unknown> => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      // A repeat after a lost answer creates nothing twice; a program that retries keeps the key of the first try.
      ...(method === 'POST' && { 'idempotency-key': crypto.randomUUID() }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
};

const agent = (await call('POST', '/v1/agents', {
  name: 'Herd report',
  config: {
    goals: ['Put the herds into files, add them up, and report.'],
    instructions: ['meadow: sheep 12, goats 7', 'Ask me what the report should mention.'],
  },
})) as { readonly id: string };

let run = (await call('POST', `/v1/agents/${agent.id}/executions`, {})) as Run;
const path = `/v1/executions/${run.id}`;
while (run.status === 'RUNNING' || run.status === 'WAITING_FOR_INPUT') {
  if (run.status === 'WAITING_FOR_INPUT') {
    console.log(run.now?.sentence);
    await call('POST', `${path}/input`, { content: answer });
    console.log(`answered: ${answer}`);
  }
  await sleep(500);
  run = (await call('GET', path)) as Run;
}
console.log(`${run.status}: ${run.result ?? run.now?.sentence ?? ''}`);
process.exitCode = run.status === 'COMPLETED' ? 0 : 1;
