/** A local cloud in this process with a team on it, whose grants can be taken away and given back while it runs. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GRANTS, type GrantResource } from '../../../cdk/grants.ts';
import { FUNCTIONS, type FunctionName } from '../../../lib/names.ts';
import { buildAssembly, cacheFolder } from '../../../local/build/build.ts';
import { startCloud } from '../../../local/cloud/cloud.ts';
import { openHome } from '../../../local/home/home.ts';
import { startFront } from '../../../local/http/front.ts';
import { readSettings } from '../../../local/settings.ts';
import { findTemplate } from '../../../local/template/read-assembly.ts';
import { type Api, eventually, makeApi } from './api.ts';
import { type Cloud, type LocalFile, OWNER_KEY, ROOT, readLog } from './cloud.ts';
import { type Operator, operatorOf } from './operator.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';
import { makeTeam, startRepository, type TeamAt } from './team.ts';

/** `function resource action`, as the grant table has them. */
export type Grant = `${FunctionName} ${GrantResource} ${string}:${string}`;

export const grantsOf = (name: FunctionName): readonly Grant[] =>
  (Object.entries(GRANTS[name]) as [GrantResource, readonly `${string}:${string}`[]][]).flatMap(([resource, actions]) =>
    actions.map((action): Grant => `${name} ${resource} ${action}`),
  );

const QUEUES: { readonly [name: string]: string } = {
  steps: 'step',
  effects: 'effect',
  fires: 'fire',
  inbox: 'inbox',
  assess: 'assess',
};

/** An ARN in the words of the grant table. */
const wordOf = (arn: string): string => {
  const [, queue, dead] = /^arn:aws:sqs:.*:baton-dev-(\w+?)(-dead)?$/.exec(arn) ?? [];
  if (queue !== undefined) return `${QUEUES[queue] ?? queue}${dead === undefined ? '' : 'Dead'}Queue`;
  return arn
    .replace(/^arn:aws:dynamodb:.*:table\/baton-dev/, 'table')
    .replace(/^arn:aws:s3:::baton-dev-\d+-[\w-]+?(?=\/|$)/, 'bucket')
    .replace(/^arn:aws:ssm:.*:parameter\/baton\/dev\//, 'parameter/')
    .replace(/^arn:aws:events:.*$/, 'bus');
};

const isNamed = (resource: string, word: string): boolean =>
  new RegExp(`^${resource.replaceAll('*', '.*')}$`).test(word);

const functionOf = (role: string): FunctionName | undefined =>
  FUNCTIONS.find((name) => role.toLowerCase().startsWith(`${name.replaceAll('-', '')}role`));

export interface LiveGrants extends TeamAt {
  readonly cloud: Api & Pick<Cloud, 'local' | 'log'>;
  readonly model: ScriptedModel;
  readonly operator: Operator;
  /** Grants that were asked for so far. */
  readonly used: ReadonlySet<Grant>;
  /** Requests that more than one grant allows. */
  readonly redundant: ReadonlySet<string>;
  /**
   * Takes one away until somebody is refused for want of it; then what was begun comes to its end.
   * @param also taken away besides, so that it is asked for at all
   * @param meanwhile after the refusal, while it is still missing
   */
  without(
    grant: Grant,
    work: () => Promise<unknown>,
    more?: { readonly also?: readonly Grant[]; readonly meanwhile?: () => Promise<unknown> },
  ): Promise<void>;
  /** What a function has logged, and what its poller has said. */
  lines(name: FunctionName): readonly string[];
  /** May be called twice. @returns what the gateway has refused, as `function action` */
  close(): Promise<readonly string[]>;
}

export const startLiveGrants = async (): Promise<LiveGrants> => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-live-grants-'));
  const home = openHome(join(folder, 'home'));
  const outdir = await buildAssembly({ root: ROOT, cacheDir: cacheFolder(ROOT, home.dir), building: () => undefined });
  const [model, place, front] = await Promise.all([startScriptedModel(), startRepository(), startFront(0)]);
  const used = new Set<Grant>();
  const redundant = new Set<string>();
  let wanted: Grant | undefined;
  let taken: readonly Grant[] = [];
  let refused: () => void = () => undefined;
  const said: string[] = [];
  const grants = new Map(FUNCTIONS.map((name) => [name as FunctionName | undefined, grantsOf(name)]));
  const running = await startCloud({
    settings: readSettings({
      PORT: '0',
      BATON_HOME: home.dir,
      STEP_DELAY_SECONDS: '0',
      EGRESS_ALLOW: [model.host, place.github.hostAndPort].join(','),
    }),
    home,
    front,
    templateFile: findTemplate(outdir),
    compileCacheDir: join(folder, 'v8'),
    apiKey: OWNER_KEY,
    model: { baseUrl: model.url, apiKey: 'key-of-the-operator', model: 'unused' },
    stands(role, { action, resource }) {
      const by = (grants.get(functionOf(role)) ?? []).filter(
        (grant) => grant.endsWith(` ${action}`) && isNamed(grant.split(' ')[1] ?? '', wordOf(resource)),
      );
      for (const grant of by) used.add(grant);
      if (by.length > 1) redundant.add(by.join());
      if (!by.some((grant) => taken.includes(grant))) return true;
      if (by.some((grant) => grant === wanted)) refused();
      return false;
    },
    echo: (line) => said.push(line),
  });
  const log = (name: string) => {
    const file = home.path('logs', `baton-dev-${name}.log`);
    return existsSync(file) ? readLog(file) : [];
  };
  const cloud = { ...makeApi(() => front.url, OWNER_KEY), log, local: () => home.readLocalFile() as LocalFile };
  const operator = operatorOf(cloud);
  const end = async (): Promise<readonly string[]> => {
    operator.close();
    await front.close();
    await running.close();
    await model.close();
    await place.github.close();
    const { refused: all } = JSON.parse(readFileSync(home.path('usage.json'), 'utf8')) as {
      readonly refused: readonly { readonly role: string; readonly action: string }[];
    };
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    return [...new Set(all.map(({ role, action }) => `${functionOf(role)} ${action}`))];
  };
  let closed: ReturnType<typeof end> | undefined;
  return {
    ...(await makeTeam(cloud, place)),
    cloud,
    model,
    operator,
    used,
    redundant,
    async without(grant, work, { also = [], meanwhile } = {}) {
      let met = false;
      refused = () => {
        met = true;
      };
      wanted = grant;
      taken = [grant, ...also];
      const working = work();
      try {
        await eventually(`${grant} is missed`, () => met, 10);
        await meanwhile?.();
      } finally {
        taken = [];
        await working;
      }
    },
    lines: (name) => [...said.filter((line) => line.includes(name)), ...log(name).map((line) => JSON.stringify(line))],
    close() {
      closed ??= end();
      return closed;
    },
  };
};
