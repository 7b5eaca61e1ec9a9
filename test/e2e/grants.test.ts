import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundle } from '../../cdk/bundle.ts';
import { createApp } from '../../cdk/create-app.ts';
import { GRANTS } from '../../cdk/grants.ts';
import { type Cloud, startCloud } from '../../local/cloud/cloud.ts';
import { type Home, openHome } from '../../local/home/home.ts';
import { type Front, startFront } from '../../local/http/front.ts';
import { readSettings } from '../../local/settings.ts';
import { findTemplate } from '../../local/template/read-assembly.ts';
import { type Api, eventually, makeApi } from './support/api.ts';
import { OWNER_KEY, ROOT, readLog } from './support/cloud.ts';
import { operatorOf } from './support/operator.ts';
import { rowsOf } from './support/rows.ts';
import { finish, type ScriptedModel, startScriptedModel, use } from './support/scripted-model.ts';

const folder = mkdtempSync(join(tmpdir(), 'baton-grants-'));
let model: ScriptedModel;
let front: Front;
let home: Home;
let cloud: Cloud | undefined;
let api: Api;

/** The real app, but the step function may not write objects: as if somebody had taken that line out of cdk/grants.ts. */
const without = (action: string): typeof GRANTS => ({
  ...GRANTS,
  step: { ...GRANTS.step, 'bucket/org/*': GRANTS.step['bucket/org/*']?.filter((each) => each !== action) ?? [] },
});

beforeAll(async () => {
  const { folders } = await bundle({ root: ROOT, out: join(folder, 'bundles') });
  const outdir = join(folder, 'cdk.out');
  createApp({ code: folders, outdir, grants: without('s3:PutObject') }).synth();
  model = await startScriptedModel();
  home = openHome(join(folder, 'home'));
  front = await startFront(0);
  cloud = await startCloud({
    settings: readSettings({ PORT: '0', BATON_HOME: home.dir, STEP_DELAY_SECONDS: '0' }),
    home,
    front,
    templateFile: findTemplate(outdir),
    compileCacheDir: join(folder, 'v8'),
    apiKey: OWNER_KEY,
    model: { baseUrl: model.url, apiKey: 'k', model: 'unused' },
    echo: () => {},
  });
  api = makeApi(() => front.url, OWNER_KEY);
}, 60_000);
afterAll(async () => {
  await front?.close();
  await cloud?.close();
  await model?.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

test('a function without a grant meets AccessDenied here too, and the run says so instead of falling silent', async () => {
  const heard = model.script('writer', ({ n }) =>
    n === 1 ? use('write_file', { path: 'a.txt', content: 'x' }) : finish('done'),
  );
  const { id } = await api.run({ model: 'writer' });
  const denied = () =>
    readLog(home.path('logs', 'baton-dev-step.log')).filter((line) => JSON.stringify(line).includes('s3:PutObject'));
  await eventually('the function logs it', () => denied().length > 0);
  expect(JSON.stringify(denied()[0])).toMatch(/not authorized to perform: s3:PutObject/);
  const trying = await api.must('GET', `/v1/executions/${id}`);
  expect(trying).toMatchObject({
    status: 'RUNNING',
    now: { attempt: { max: 5 }, sentence: expect.stringContaining('s3:PutObject') },
  });

  // Its five attempts take a minute, for each waits twice as long as the one before: four are booked by hand.
  const operator = operatorOf({
    local: () => home.readLocalFile() as ReturnType<Parameters<typeof operatorOf>[0]['local']>,
  });
  const { id: orgId } = await api.must('GET', '/v1/organisation');
  await rowsOf(operator, orgId).changeExecution(id, { at: 5 });
  operator.close();
  const stopped = await api.until(id, ['ERROR_PAUSED', 'COMPLETED', 'FAILED'], 30);
  expect(stopped).toMatchObject({ status: 'ERROR_PAUSED', reason: 'step_failed' });
  expect(stopped.error?.message).toMatch(/s3:PutObject/);
  // The reply was bought once, however often the call was tried.
  expect(heard.calls).toHaveLength(1);
  expect((await api.must('GET', `/v1/executions/${id}/files`)).items).toEqual([]);
}, 60_000);
