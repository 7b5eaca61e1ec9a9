import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildAssembly, cacheFolder } from '../local/build/build.ts';
import { LOCAL } from '../local/names.ts';
import type { Assembly } from '../local/template/assembly.ts';
import { findTemplate, readAssembly } from '../local/template/read-assembly.ts';
import { type BenchCloud, startBenchCloud } from './cloud.ts';
import { measureBundles } from './cold.ts';
import { type CrashOptions, startCrashes } from './crash.ts';
import { measureCurve } from './curve.ts';
import { measureFeatures } from './features.ts';
import type { Measured } from './figures.ts';
import { measureIdle } from './idle.ts';
import { type ScriptedModel, startModel } from './model/model.ts';
import { makeObserver } from './observe.ts';
import type { Sizes } from './options.ts';
import { HAS_PROC } from './processes.ts';
import { startReceiver } from './receiver.ts';
import { type Sink, startSink } from './sink.ts';
import { functionOf, measureUnits } from './steps.ts';
import { storedOf } from './stored.ts';
import { measureStorm } from './storm.ts';
import { measureTeam } from './team/measure.ts';
import { startTeamModel, type TeamModel } from './team/model.ts';
import { startTeam } from './team/team.ts';
import { measureTeamUnits, type TeamUnits } from './team/units.ts';
import { measureThroughput } from './throughput.ts';

/** The template's own default, at which the next message is sent beside the commit. */
const DEFAULT_DELAY_SECONDS = '2';

interface Setup {
  readonly assembly: Assembly;
  readonly model: ScriptedModel;
  readonly teamModel: TeamModel;
  readonly sizes: Sizes;
  readonly signal: AbortSignal;
  say(line: string): void;
}

/** One after the other, so that nothing disturbs what is timed; only waits for leases overlap with what is counted. */
export const measureAll = async (
  root: string,
  sizes: Sizes,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<Measured> => {
  const assemblyDir = await buildAssembly({
    root,
    cacheDir: cacheFolder(root, join(root, '.baton')),
    building: () => say('Building the functions and the template …'),
  });
  // Addresses are of no matter here: names, folders and settings are read.
  const nowhere = { gatewayUrl: 'http://127.0.0.1', apiUrl: 'http://127.0.0.1' };
  const assembly = readAssembly(findTemplate(assemblyDir), { ...LOCAL, ...nowhere });
  const model = await startModel();
  const teamModel = await startTeamModel();
  const sink = await startSink();
  try {
    const setup: Setup = { assembly, model, teamModel, sizes, signal, say };
    return await inOrder(setup, sink);
  } finally {
    sink.close();
    teamModel.close();
    model.close();
  }
};

const inOrder = async (setup: Setup, sink: Sink): Promise<Measured> => {
  const { assembly, model, sizes, signal, say } = setup;
  const environment = { STEP_DELAY_SECONDS: '0', EGRESS_ALLOW: sink.host };
  const cloud = await startBenchCloud(signal, model.url, { assembly, environment });
  try {
    say(`One run of ${Math.max(...sizes.points) + 50} steps …`);
    const curve = await measureCurve(cloud, model, sizes.points);
    const stored = await storedOf(cloud, curve.executionId);
    // The unsafe ones come first: their long leases run out while other things are counted.
    const unsafe = HAS_PROC ? await crashes(setup, cloud, sink, { kills: sizes.kills, unsafe: true }) : undefined;
    const keyed = HAS_PROC ? await crashes(setup, cloud, sink, { kills: sizes.kills, unsafe: false }) : undefined;
    const { teamUnits, ...counted } = await countRequests(setup);
    say('Loading each bundle …');
    const bundles = await measureBundles(assembly.functions, sizes.starts);
    say('Waiting for the last leases …');
    const crashed = unsafe && keyed && { unsafe: await unsafe.outcome(), keyed: await keyed.outcome() };
    say('Fifty runs at once …');
    const throughput = await measureThroughput(cloud, model, sizes.throughputSteps);
    await cloud.stop();
    const storm = sizes.storm === 0 ? undefined : await storms(setup);
    const team = { units: teamUnits, pace: sizes.team ? await teamPace(setup) : undefined };
    return {
      curve,
      stored,
      throughput,
      storm,
      ...counted,
      team,
      crashes: crashed,
      bundles,
      stepMemoryMb: functionOf(assembly, 'step').memoryMb,
    };
  } finally {
    await cloud.stop();
    cloud.forget();
  }
};

const crashes = ({ model, say }: Setup, cloud: BenchCloud, sink: Sink, options: CrashOptions) => {
  say(`${options.kills} kills after ${options.unsafe ? 'an unsafe' : 'a keyed'} effect …`);
  return startCrashes(cloud, model, sink, options);
};

/** On a cloud of its own: it is killed, and the table of the long runs is not looked through. */
const storms = async ({ assembly, model, sizes, signal, say }: Setup): Promise<NonNullable<Measured['storm']>> => {
  let cloud = await startBenchCloud(signal, model.url, { assembly, environment: { STEP_DELAY_SECONDS: '0' } });
  const across = async (kind: 'schedules' | 'waits') => {
    say(`${sizes.storm} ${kind} of one second, across a kill …`);
    const measured = await measureStorm(cloud, kind, sizes.storm);
    ({ cloud } = measured);
    return measured.storm;
  };
  try {
    return { schedules: await across('schedules'), waits: await across('waits') };
  } finally {
    await cloud.stop();
    cloud.forget();
  }
};

/** On a cloud of its own, without a trace: a decision is as late as the model makes it. */
const teamPace = async ({ assembly, model, teamModel, signal, say }: Setup) => {
  const cloud = await startBenchCloud(signal, model.url, {
    assembly,
    environment: { EGRESS_ALLOW: teamModel.host },
  });
  try {
    return await measureTeam(cloud, teamModel, say);
  } finally {
    await cloud.stop();
    cloud.forget();
  }
};

/** On a cloud of its own: the trace holds answers back, so nothing may be timed there. */
const countRequests = async ({
  assembly,
  model,
  teamModel,
  sizes,
  signal,
  say,
}: Setup): Promise<Pick<Measured, 'units' | 'idle' | 'features'> & { readonly teamUnits: TeamUnits }> => {
  say('Counting the requests of a step, and of an idle installation …');
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'));
  const traceFile = join(folder, 'trace.jsonl');
  const receiver = await startReceiver();
  const environment = {
    STEP_DELAY_SECONDS: DEFAULT_DELAY_SECONDS,
    BATON_TRACE: traceFile,
    EGRESS_ALLOW: `${receiver.host},${teamModel.host}`,
  };
  const cloud = await startBenchCloud(signal, model.url, { assembly, environment });
  try {
    const units = await measureUnits(cloud, assembly, traceFile, sizes.countedSteps);
    const idle = await measureIdle(cloud, assembly, traceFile);
    say('Counting the requests of workflows, waits, schedules, webhooks and usage …');
    const features = await measureFeatures(cloud, assembly, traceFile, receiver, idle);
    say('Counting the requests of messages to a team …');
    const observer = makeObserver(assembly, traceFile);
    const teamUnits = await measureTeamUnits(observer, await startTeam(cloud, teamModel), teamModel);
    return { units, idle, features, teamUnits };
  } finally {
    await cloud.stop();
    cloud.forget();
    receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
};
