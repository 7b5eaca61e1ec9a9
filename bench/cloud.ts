import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Assembly } from '../local/template/assembly.ts';
import { type Api, type Execution, makeApi } from '../scripts/demo/api.ts';
import { type DemoCloud, startDemoCloud } from '../scripts/demo/cloud.ts';
import { goalOf, type Script } from './model/script.ts';

/** The lease of the local cloud's own default, stated because the time from a kill to the next step rests on it. */
export const LEASE_SECONDS = 5;

export interface BenchCloud extends DemoCloud {
  readonly api: Api;
  readonly pid: number;
  readonly gatewayUrl: string;
  readonly region: string;
  readonly tableName: string;
  readonly orgId: string;
  readonly operator: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** An agent whose runs follow the script. @param workflow without one it is the single loop */
  agent(script: Script, config?: { readonly [key: string]: unknown }, workflow?: string): Promise<string>;
  /** An agent and a run of it that follows the script. */
  begin(script: Script, config?: { readonly [key: string]: unknown }, workflow?: string): Promise<string>;
  /** Polls until it has ended. @throws Error when it ends other than completed, or takes too long */
  completed(executionId: string, seconds: number, everyMs?: number): Promise<Execution>;
  /** Any route of the API, as the bench's own organisation. @throws Error when it refuses */
  call(method: string, path: string, body?: object): Promise<{ readonly [member: string]: unknown }>;
  /** Fires a rule of EventBridge at once. */
  fire(rule: string): Promise<void>;
  /** Kills all of its processes and starts it again on what it had stored: the cloud to go on with. */
  killed(): Promise<BenchCloud>;
}

/** Nothing of the caller's environment changes what is measured, no key leaves, no chaos comes in. */
const kept = (): { readonly [name: string]: string | undefined } => {
  const { PATH, HOME, TMPDIR, SystemRoot } = process.env;
  return { PATH, HOME, TMPDIR, SystemRoot };
};

export interface BenchCloudOptions {
  readonly assembly: Assembly;
  readonly environment: { readonly [name: string]: string };
  /** Of a cloud that was killed. */
  readonly home?: string;
}

/** A local cloud of the bench's own with the scripted model; `environment` stands above the bench's settings. */
export const startBenchCloud = async (
  signal: AbortSignal,
  modelUrl: string,
  { assembly, environment, home }: BenchCloudOptions,
): Promise<BenchCloud> => {
  const settings = {
    ...kept(),
    OPENAI_BASE_URL: modelUrl,
    OPENAI_API_KEY: 'bench',
    // A model with a known price: its money is reserved and booked like anybody's.
    OPENAI_MODEL: 'gpt-4o-mini',
    LEASE_SECONDS: String(LEASE_SECONDS),
    ...environment,
  };
  const cloud = await startDemoCloud(signal, settings, home);
  const local = JSON.parse(readFileSync(join(cloud.home, 'local.json'), 'utf8')) as Pick<
    BenchCloud,
    'pid' | 'gatewayUrl' | 'region' | 'operator'
  >;
  const api = makeApi(cloud.url, cloud.apiKey, signal);
  const authorization = `Bearer ${cloud.apiKey}`;
  const organisation = await fetch(`${cloud.url}/v1/organisation`, { headers: { authorization }, signal });
  const { id: orgId } = (await organisation.json()) as { readonly id: string };
  const agent: BenchCloud['agent'] = async (script, config = {}, workflow) => {
    const { id } = await api.createAgent({
      name: `bench ${script.run}`,
      ...(workflow !== undefined && { workflow }),
      config: { goals: [goalOf(script)], ...UNLIMITED, ...config },
    });
    return id;
  };
  return {
    ...cloud,
    ...local,
    orgId,
    tableName: assembly.tables[0]?.name ?? '',
    url: cloud.url,
    api,
    agent,
    async begin(...what) {
      return (await api.startExecution(await agent(...what))).id;
    },
    async completed(id, seconds, everyMs = 100) {
      const until = performance.now() + seconds * 1000;
      for (;;) {
        const execution = await api.execution(id);
        if (execution.status === 'COMPLETED') return execution;
        const over = performance.now() > until;
        if (!GOES_ON.has(execution.status) || over) {
          const why = execution.error?.message ?? (over ? `not over after ${seconds} s` : '');
          throw new Error(`${id} is ${execution.status} at step ${execution.seq}: ${why}`);
        }
        await sleep(everyMs, undefined, { signal });
      }
    },
    async call(method, path, body) {
      const response = await fetch(`${cloud.url}${path}`, {
        method,
        signal,
        headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
      return text === '' ? {} : (JSON.parse(text) as { readonly [member: string]: unknown });
    },
    async fire(rule) {
      const response = await fetch(`${cloud.url}/_local/rules/${rule}/fire`, { method: 'POST', signal });
      if (!response.ok) throw new Error(`The rule ${rule} did not fire: ${response.status}`);
    },
    async killed() {
      await cloud.kill();
      return startBenchCloud(signal, modelUrl, { assembly, environment, home: cloud.home });
    },
  };
};

/** A run that waits has not ended. */
const GOES_ON: ReadonlySet<string> = new Set(['RUNNING', 'WAIT_STEP']);

/** The fuses stand so high that a long run meets none. Everything else is the default, the window above all. */
const UNLIMITED = { maxIterations: 1_000_000, maxSteps: 1_000_000, maxCostUsd: 1_000_000 };
