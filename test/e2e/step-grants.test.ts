import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bundles, bundle } from '../../cdk/bundle.ts';
import { createApp } from '../../cdk/create-app.ts';
import { GRANTS, type GrantResource } from '../../cdk/grants.ts';
import { startCloud } from '../../local/cloud/cloud.ts';
import { openHome } from '../../local/home/home.ts';
import { startFront } from '../../local/http/front.ts';
import { readSettings } from '../../local/settings.ts';
import { findTemplate } from '../../local/template/read-assembly.ts';
import { type Api, eventually, makeApi } from './support/api.ts';
import { type LocalFile, OWNER_KEY, ROOT, readLog } from './support/cloud.ts';
import { operatorOf } from './support/operator.ts';
import { finish, type Script, type ScriptedModel, startScriptedModel, use } from './support/scripted-model.ts';

type Grant = readonly [resource: GrantResource, action: string];

/** Grants that the local gateway cannot exercise, and why. */
const NOT_ASKED_HERE: readonly { readonly grant: Grant; readonly why: string }[] = [
  {
    grant: ['stepQueue', 'sqs:GetQueueAttributes'],
    why: 'Lambda demands it of the role of an event source mapping; the local poller does not ask.',
  },
  {
    grant: ['fireQueue', 'sqs:SendMessage'],
    why: 'Asked for at the end of a scheduled run only; without it the mark of the schedule serves, as in test/schedule.',
  },
];

/** Asked for by a call that starts another run. */
const CHECK = 'dynamodb:ConditionCheckItem';

/** Asked for by a worker that looks at what else is going on. */
const OF_OVERVIEW: readonly string[] = ['table dynamodb:BatchGetItem', 'table/index/byOwner dynamodb:Query'];

/** Without it… */
type Ends =
  /** …the run that needs it does not get on. */
  | 'stands'
  /** …runs end all the same: it serves those who come after, or the message that was done. */
  | 'completes';

const CASES: readonly (readonly [...Grant, on: string, ends: Ends])[] = [
  ['table', 'dynamodb:GetItem', 'table/baton-dev', 'stands'],
  ['table', 'dynamodb:Query', 'table/baton-dev', 'stands'],
  ['table', 'dynamodb:PutItem', 'table/baton-dev', 'stands'],
  ['table', 'dynamodb:UpdateItem', 'table/baton-dev', 'stands'],
  ['table', CHECK, 'table/baton-dev', 'stands'],
  ['table', 'dynamodb:BatchGetItem', 'table/baton-dev', 'stands'],
  ['table/index/byOwner', 'dynamodb:Query', 'table/baton-dev/index/byOwner', 'stands'],
  ['stepQueue', 'sqs:SendMessage', 'baton-dev-steps', 'stands'],
  ['stepQueue', 'sqs:ReceiveMessage', 'baton-dev-steps', 'stands'],
  ['stepQueue', 'sqs:DeleteMessage', 'baton-dev-steps', 'completes'],
  ['stepQueue', 'sqs:ChangeMessageVisibility', 'baton-dev-steps', 'stands'],
  ['effectQueue', 'sqs:SendMessage', 'baton-dev-effects', 'completes'],
  ['bucket', 's3:ListBucket', 's3:::baton-dev-000000000000-us-east-1', 'stands'],
  ['bucket/org/*', 's3:GetObject', '/org/', 'stands'],
  ['bucket/org/*', 's3:PutObject', '/org/', 'stands'],
  ['bucket/parked/*', 's3:PutObject', '/parked/', 'completes'],
  ['parameter/model', 'ssm:GetParameter', 'parameter/baton/dev/model', 'stands'],
  ['parameter/org/*', 'ssm:GetParameter', 'parameter/baton/dev/org/', 'stands'],
];

const folder = mkdtempSync(join(tmpdir(), 'baton-step-grants-'));
let code: Bundles['folders'];
let model: ScriptedModel;
beforeAll(async () => {
  const [bundles, started] = await Promise.all([
    bundle({ root: ROOT, out: join(folder, 'bundles') }),
    startScriptedModel(),
  ]);
  code = bundles.folders;
  model = started;
}, 60_000);
afterAll(async () => {
  await model?.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** The real table of grants without one of its entries. */
const without = ([resource, action]: Grant): typeof GRANTS => {
  const actions = GRANTS.step[resource] ?? [];
  if (!actions.some((each) => each === action)) throw new Error(`${action} on ${resource} is not granted.`);
  return { ...GRANTS, step: { ...GRANTS.step, [resource]: actions.filter((each) => each !== action) } };
};

/** What one try of the whole workload shows. */
interface Seen {
  readonly api: Api;
  readonly ids: { readonly own: string; readonly shared: string };
  /** The step function's log and what its poller said. */
  lines(): readonly string[];
}

/**
 * A local cloud on the template with these grants and in it what needs every one of them: a run on the organisation's own
 * model account and one on the operator's, files in the bucket, a message that nobody can read.
 * @returns what the gateway refused to roles meanwhile, as `action resource`
 */
const tryOut = async (
  name: string,
  grants: typeof GRANTS,
  { missing = false, family = false, ticket = false }: { readonly [work in 'missing' | 'family' | 'ticket']?: boolean },
  look: (seen: Seen) => Promise<void>,
): Promise<readonly string[]> => {
  // One folder for all: the code in it stays, only the template is written anew.
  const outdir = join(folder, 'cdk.out');
  createApp({ code, outdir, grants }).synth();
  const home = openHome(join(folder, `home-${name}`));
  const front = await startFront(0);
  const said: string[] = [];
  const environment = { PORT: '0', BATON_HOME: home.dir, STEP_DELAY_SECONDS: '0', EGRESS_ALLOW: model.host };
  const cloud = await startCloud({
    settings: readSettings(environment),
    home,
    front,
    templateFile: findTemplate(outdir),
    compileCacheDir: join(folder, 'v8'),
    apiKey: OWNER_KEY,
    model: { baseUrl: model.url, apiKey: 'key-of-the-operator', model: 'unused' },
    echo: (line) => said.push(line),
  });
  const local = (): LocalFile => home.readLocalFile() as LocalFile;
  const operator = operatorOf({ local });
  const { gatewayUrl, region, operator: credentials } = local();
  const s3 = new S3Client({ endpoint: gatewayUrl, region, credentials, forcePathStyle: true });
  const loseObjects = async (): Promise<void> => {
    const Bucket = 'baton-dev-000000000000-us-east-1';
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
    for (const { Key } of Contents) await s3.send(new DeleteObjectCommand({ Bucket, Key }));
  };
  try {
    const api = makeApi(() => front.url, OWNER_KEY);
    const script: Script = async ({ messages }) => {
      if (String(messages[0]?.content).includes('CHILD')) return finish('done');
      const step = messages.filter(({ role }) => role === 'assistant').length + 1;
      if (ticket && String(messages[0]?.content).includes('(ticket tkt_')) {
        return step === 1 ? use('read', { id: 'overview' }) : finish('done');
      }
      if (step === 1) return use('write_file', { path: 'a.txt', content: 'x' });
      if (step === 2 && missing) await loseObjects();
      if (step === 3 && family) return use('run_agent', { goal: 'CHILD' });
      return step === 2 ? use('read_file', { path: 'a.txt' }) : finish('done');
    };
    const [own, shared] = [`own-${name}`, `shared-${name}`];
    for (const each of [own, shared]) model.script(each, script);
    const provider = { baseUrl: model.url, apiKey: 'key-of-the-organisation', models: [{ name: own }] };
    await api.must('PUT', '/v1/providers/own', provider);
    const QueueUrl = operator.queueUrl('baton-dev-steps');
    await operator.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'no json', MessageGroupId: 'any' }));
    const tools = ['write_file', 'read_file', 'run_agent'];
    const run = async (model: string): Promise<string> => (await api.run({ model, tools })).id;
    const workFor = async (model: string): Promise<string> => {
      await api.must('PUT', '/v1/policy', { worker: { model } });
      const { executionIds } = await api.must('POST', '/v1/tickets', { title: 'Look around', text: 'Look around.' });
      return executionIds[0] ?? 'none';
    };
    const ids = { own: await run(own), shared: await (ticket ? workFor(shared) : run(shared)) };
    const log = home.path('logs', 'baton-dev-step.log');
    await look({
      api,
      ids,
      lines: () => [...said, ...(existsSync(log) ? readLog(log) : []).map((line) => JSON.stringify(line))],
    });
  } finally {
    s3.destroy();
    operator.close();
    await front.close();
    await cloud.close();
  }
  const { refused } = JSON.parse(readFileSync(home.path('usage.json'), 'utf8')) as {
    readonly refused: readonly { readonly role: string; readonly action: string; readonly resource: string }[];
  };
  return refused.map(({ role, action, resource }) => `${role.replace(/Role[0-9A-F]{8}$/, '')} ${action} ${resource}`);
};

test('every grant of the step function is taken away below, or it is said why it cannot be', () => {
  const all = Object.entries(GRANTS.step).flatMap(([resource, actions]) =>
    actions.map((each) => `${resource} ${each}`),
  );
  const told = [...CASES, ...NOT_ASKED_HERE.map(({ grant }) => grant)].map(
    ([resource, action]) => `${resource} ${action}`,
  );
  expect(told.toSorted()).toEqual(all.toSorted());
  expect(NOT_ASKED_HERE.every(({ why }) => why.length > 20)).toBe(true);
});

test('with all grants the same work meets no refusal', async () => {
  const refused = await tryOut('none', GRANTS, { family: true, ticket: true }, async ({ api, ids }) => {
    for (const id of Object.values(ids)) await api.until(id, 'COMPLETED', 40);
  });
  expect(refused).toEqual([]);
}, 60_000);

test.each(CASES)(
  'without %s %s',
  async (resource, action, on, ends) => {
    const name = `${resource}-${action}`.replaceAll(/\W+/g, '-');
    const ticket = OF_OVERVIEW.includes(`${resource} ${action}`);
    const work = { missing: action === 's3:ListBucket', family: action === CHECK, ticket };
    const refused = await tryOut(name, without([resource, action]), work, async ({ api, ids, lines }) => {
      const denied = () => lines().filter((line) => line.includes(`not authorized to perform: ${action} on resource`));
      await eventually(`${action} is refused`, () => denied().length > 0, 30);
      if (ends === 'completes') {
        for (const id of Object.values(ids)) await api.until(id, 'COMPLETED', 20);
      } else {
        // The model account of the one run is not that of the other.
        const stuck = resource === 'parameter/org/*' ? ids.own : ids.shared;
        expect((await api.must('GET', `/v1/executions/${stuck}`)).status).toBe('RUNNING');
      }
    });
    // This and nothing else was refused. A missing object is told by another answer of S3, which is no refused call.
    expect(refused.filter((text) => !(text.startsWith(`Step ${action} `) && text.includes(on)))).toEqual([]);
    expect(refused.length > 0).toBe(!work.missing);
  },
  60_000,
);
