/**
 * `npm run demo`: a local cloud in a temporary home, one agent, one run from its start to COMPLETED. Halfway the process that
 * works on a step is killed, and the run goes on. The files are checked in the end; exit 1 when one is wrong.
 */
import './node-version.ts';
import { join } from 'node:path';
import { type Execution, makeApi } from './demo/api.ts';
import { faultsOfModel, faultsOfRehearsal } from './demo/check.ts';
import { type DemoCloud, startDemoCloud } from './demo/cloud.ts';
import { followRun } from './demo/follow.ts';
import { AGENT } from './demo/job.ts';
import { killInMidStep } from './demo/kill.ts';
import { makeScreen, type Screen } from './demo/terminal.ts';

/** Half of the rehearsal's ten steps. A real model may do the whole job in four. */
const KILL_FROM_SEQ = { rehearsal: 5, real: 2 } as const;
const LONGEST_MS = 600_000;

const realModel = Boolean(process.env.OPENAI_API_KEY || process.env.OPENAI_BASE_URL);
const stopped = new AbortController();

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const run = async (screen: Screen, cloud: DemoCloud): Promise<void> => {
  const { signal } = stopped;
  const api = makeApi(cloud.url, cloud.apiKey, signal);
  const agent = await api.createAgent(AGENT);
  const { id } = await api.startExecution(agent.id);
  screen.line(`Agent ${agent.id} "${AGENT.name}", run ${id}. Its goal:`);
  screen.line(`  ${AGENT.config.goals[0]}`);
  screen.line('Its feed:');

  let wentOn = false;
  const killing = killInMidStep({ api, home: cloud.home, signal }, id, KILL_FROM_SEQ[realModel ? 'real' : 'rehearsal']);
  let killed: Awaited<typeof killing>;
  const killSaid = killing.then((hit) => {
    killed = hit;
    if (hit === undefined) return;
    screen.line();
    screen.line(
      `  kill -9 ${hit.pid}: the process that held the lease of step ${hit.seq} is gone, in the middle of it.`,
    );
    screen.line('  Nobody tells the run. Its message comes back to the queue when the lease has ended …');
    screen.line();
  });
  const followed = followRun({ api, screen }, id, ({ seq }) => {
    if (killed === undefined || wentOn || seq <= killed.seq) return;
    wentOn = true;
    screen.line();
    screen.line(
      `  Another process took step ${killed.seq} over and finished it ${seconds(performance.now() - killed.at)} after the kill.`,
    );
    screen.line();
  });
  const [execution] = await Promise.all([followed, killSaid]);
  screen.clear();

  const files = await api.files(id);
  report(screen, execution, files);
  if (execution.status !== 'COMPLETED') {
    const why = execution.error?.message ?? execution.now?.sentence ?? 'it says no reason';
    throw new Error(`The run is ${execution.status}: ${why}`);
  }
  if (!wentOn && !realModel) throw new Error('The run ended before its process could be killed.');
  if (!wentOn) screen.line('The model was done before its process could be killed, so nothing was shown of that.');
  const faults = realModel ? faultsOfModel(files, execution.result ?? '') : faultsOfRehearsal(files);
  if (faults.length > 0) throw new Error(`The files are not right:\n  ${faults.join('\n  ')}`);
  screen.line(
    realModel
      ? 'Checked: a file for each region, and all totals are right.'
      : 'Checked: every file holds what it should, to the byte, and the report says the right totals.',
  );
};

const report = (screen: Screen, execution: Execution, files: ReadonlyMap<string, string>): void => {
  screen.line();
  screen.line(`${execution.status} after ${execution.seq - 1} steps`);
  screen.line(`  result  ${execution.result ?? 'none'}`);
  screen.line(
    `  used    ${execution.calls} model calls, ${execution.tokens.total} tokens (${execution.tokens.input} in, ${execution.tokens.output} out)`,
  );
  const price = execution.priceUnknown === true ? ' (the price of this model is not known)' : '';
  screen.line(`  cost    $${execution.costUsd.toFixed(4)}${realModel ? price : ' (a rehearsal costs nothing)'}`);
  for (const [path, text] of files) screen.line(`  file    ${path}, ${Buffer.byteLength(text)} bytes`);
  screen.line();
};

const sayModel = (screen: Screen): void => {
  screen.line(
    realModel
      ? `The model is ${process.env.OPENAI_MODEL || 'the default'} of OPENAI_BASE_URL / OPENAI_API_KEY: a real one, and its calls may cost money.`
      : 'The model is a REHEARSAL: a small program that knows this job, no real language model. The rest is real.',
  );
  if (!realModel) screen.line('Set OPENAI_API_KEY, or OPENAI_BASE_URL of any compatible server, to use a real one.');
};

const main = async (screen: Screen): Promise<number> => {
  sayModel(screen);
  screen.line('Starting the local cloud in a temporary home (the first start builds the functions) …');
  const began = performance.now();
  const cloud = await startDemoCloud(stopped.signal);
  let keep = false;
  try {
    screen.line(`  up after ${seconds(performance.now() - began)}: ${cloud.url}`);
    await run(screen, cloud);
  } catch (error) {
    keep = !stopped.signal.aborted;
    throw error;
  } finally {
    screen.clear();
    await cloud.stop();
    if (!keep) cloud.forget();
    else
      screen.line(
        `The home is kept: ${cloud.home} (${join(cloud.home, 'cloud.log')}, logs of the functions in logs/).`,
      );
  }
  screen.line(`All of it took ${seconds(performance.now() - began)}. The local cloud is stopped and its home deleted.`);
  screen.line();
  screen.line('Where to look next:');
  screen.line('  npm start      a local cloud that stays; it prints its address and key');
  screen.line('  README.md      your own agent with curl, all settings, how to deploy');
  return 0;
};

const screen = makeScreen(process.stdout);
const INTERRUPTED = 'interrupted';
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => stopped.abort(new Error(INTERRUPTED)));
}
const longest = setTimeout(() => {
  stopped.abort(new Error(`The demo did not end within ${seconds(LONGEST_MS)}.`));
}, LONGEST_MS);
try {
  process.exitCode = await main(screen);
} catch (error) {
  const reason: unknown = stopped.signal.aborted ? stopped.signal.reason : error;
  const message = reason instanceof Error ? reason.message : String(reason);
  process.exitCode = message === INTERRUPTED ? 130 : 1;
  console.error(message === INTERRUPTED ? 'Stopped; nothing is left behind.' : `The demo failed: ${message}`);
} finally {
  clearTimeout(longest);
}
