import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from './support/api.ts';
import { OWNER_KEY, ROOT } from './support/cloud.ts';
import { finish, type Heard, type Script, use } from './support/scripted-model.ts';
import { type SuperAgiClient, superagi, validateApiKey } from './support/superagi-client.ts';
import { startWorld, type World } from './support/world.ts';

/** The published package `superagi-client` against the local cloud: nothing of it is touched. */

const { AgentConfig, AgentRun, AgentRunFilter, AgentSchedule, AgentUpdateConfig, Client } = superagi;

let world: World;
let client: SuperAgiClient;
let stranger: SuperAgiClient;
beforeAll(async () => {
  world = await startWorld();
  const url = world.cloud.url();
  const args = ['run', '--silent', 'bootstrap', '--', '--organisation', 'Other', '--local', '--json'];
  const env = { ...process.env, BATON_HOME: world.cloud.home };
  const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT, env });
  client = new Client({ apiKey: OWNER_KEY, url });
  stranger = new Client({ apiKey: (JSON.parse(stdout) as { readonly apiKey: string }).apiKey, url });
});
afterAll(() => world?.close());

let names = 0;
const config = (reply: Script, more: object = {}): { readonly fields: object; readonly heard: Heard } => {
  const model = `superagi-${++names}`;
  const fields = {
    name: 'Reporter',
    description: 'Writes reports',
    goal: ['Write the report'],
    instruction: ['Be short'],
    agentWorkflow: 'Goal Based Workflow',
    constraints: ['No guesses'],
    tools: [{ name: 'File Toolkit', tools: ['Write File', 'Read File'] }],
    iterationInterval: 500,
    model,
    maxIterations: 9,
    ...more,
  };
  return { fields, heard: world.model.script(model, reply) };
};
const until = (agentId: number, runId: number, status: string) =>
  eventually(`run ${runId} is ${status}`, async () => {
    const all = await client.getAgentRunStatus(agentId);
    return all.some((run) => run.runId === runId && run.status === status);
  });
/** The client puts the answer's body into the message. */
const refused = async (call: Promise<unknown>, status: number, detail: string): Promise<void> => {
  const error = await call.then(() => undefined).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ statusCode: status });
  expect(String(error)).toContain('{"detail":"');
  expect(String(error)).toContain(detail);
};

describe('a key', () => {
  test('is validated', async () => {
    await validateApiKey(world.cloud.url(), OWNER_KEY);
    await refused(validateApiKey(world.cloud.url(), 'wrong'), 401, 'no such API key');
  });
});

describe('an agent', () => {
  test('is made, changed and run, twice, each time with its goals and tools', async () => {
    const { fields, heard } = config(
      ({ messages }) => {
        const wrote = messages.some(({ role }) => role === 'tool');
        return wrote ? finish('done') : use('write_file', { path: 'out/report 1.md', content: '# Report' });
      },
      { permissionType: 'God Mode', userTimezone: 'Europe/Berlin', ltmDb: 'Pinecone', exit: 'No exit criterion' },
    );
    const { agentId } = await client.createAgent(new AgentConfig(fields));
    expect(Number.isInteger(agentId)).toBe(true);
    expect(await client.updateAgent(agentId, new AgentUpdateConfig({ goal: ['Write it anew'] }))).toEqual({ agentId });

    const first = await client.createAgentRun(agentId);
    await until(agentId, first.runId, 'COMPLETED');
    const second = await client.createAgentRun(
      agentId,
      new AgentRun({ name: 'again', goal: ['Only this time'], instruction: ['In verse'] }),
    );
    expect(second.runId).not.toBe(first.runId);
    await until(agentId, second.runId, 'COMPLETED');
    const prompts = heard.calls.map(({ messages }) => JSON.stringify(messages));
    expect(prompts[0]).toContain('Write it anew');
    expect(prompts[0]).toContain('No guesses');
    expect(prompts[0]).not.toContain('Write the report');
    expect(prompts[2]).toContain('Only this time');
    expect(prompts[2]).toContain('In verse');
    expect(prompts[2]).not.toContain('Write it anew');
    expect(heard.calls[2]?.tools.toSorted()).toEqual(['finish', 'read_file', 'write_file']);

    const resources = await client.getAgentRunResources([first.runId, second.runId]);
    expect(Object.keys(resources)).toEqual([String(first.runId), String(second.runId)]);
    const [url = ''] = resources[String(second.runId)] ?? [];
    const file = await fetch(url, { headers: { 'X-API-Key': OWNER_KEY } });
    expect([file.status, await file.text()]).toEqual([200, '# Report']);
    expect((await fetch(url)).status).toBe(401);
  });

  test('is paused and resumed; runs are found by number and by state', async () => {
    const { fields, heard } = config(({ n, messages }) =>
      messages.some(({ content }) => content === 'stop now')
        ? finish('stopped')
        : { ...use('write_file', { path: 'n.txt', content: String(n) }), waitMs: 50 },
    );
    const { agentId } = await client.createAgent(new AgentConfig({ ...fields, maxIterations: 500 }));
    const { runId } = await client.createAgentRun(agentId);
    const other = await client.createAgentRun(agentId);
    await eventually('it works', () => heard.calls.length > 2);
    expect(await client.pauseAgent(agentId, [runId])).toEqual({ result: 'success' });
    const seen = async (fields: object) => client.getAgentRunStatus(agentId, new AgentRunFilter(fields));
    expect(await seen({ runStatusFilter: 'PAUSED' })).toEqual([{ runId, status: 'PAUSED' }]);
    expect(await seen({ runIds: [other.runId], runStatusFilter: 'running' })).toEqual([
      { runId: other.runId, status: 'RUNNING' },
    ]);
    expect(await client.pauseAgent(agentId)).toEqual({ result: 'success' });
    expect(await seen({ runStatusFilter: 'PAUSED' })).toHaveLength(2);
    expect(await client.resumeAgent(agentId, [runId])).toEqual({ result: 'success' });
    expect(await seen({ runIds: [runId] })).toEqual([{ runId, status: 'RUNNING' }]);
    await refused(seen({ runStatusFilter: 'SLEEPING' }), 400, 'run_status_filter');
    await client.pauseAgent(agentId);
  });

  test('cannot be run by hand while it is scheduled; the run of the schedule has a number, and then it can', async () => {
    const { fields } = config(() => finish('done'));
    const schedule = new AgentSchedule({
      startTime: new Date(Date.now() + 2_000),
      recurrenceInterval: '1 Minutes',
      expiryRuns: 1,
    });
    const { agentId } = await client.createAgent(new AgentConfig({ ...fields, schedule }));
    await refused(client.createAgentRun(agentId), 409, 'scheduled');
    await eventually('it fired', async () => (await client.getAgentRunStatus(agentId)).length === 1);
    const [scheduled] = await client.getAgentRunStatus(agentId);
    await until(agentId, scheduled?.runId ?? 0, 'COMPLETED');
    const { runId } = await client.createAgentRun(agentId, new AgentRun({ name: 'by hand' }));
    expect(runId).not.toBe(scheduled?.runId);
    await until(agentId, runId, 'COMPLETED');
  });

  test('with a tool that is not there is refused', async () => {
    const { fields } = config(() => finish('done'), { tools: [{ name: 'Jira Toolkit' }] });
    await refused(client.createAgent(new AgentConfig(fields)), 404, 'Jira Toolkit');
  });
});

test("another organisation's numbers name nothing", async () => {
  const { fields } = config(() => finish('done'));
  const { agentId } = await client.createAgent(new AgentConfig(fields));
  const { runId } = await client.createAgentRun(agentId);
  await refused(stranger.createAgentRun(agentId), 404, 'no such agent');
  await refused(stranger.updateAgent(agentId, new AgentUpdateConfig({ name: 'stolen' })), 404, 'no such agent');
  await refused(stranger.getAgentRunStatus(agentId), 404, 'no such agent');
  await refused(stranger.pauseAgent(agentId), 404, 'no such agent');
  await refused(stranger.resumeAgent(agentId), 404, 'no such agent');
  await refused(stranger.getAgentRunResources([runId]), 404, 'no such run');
  await until(agentId, runId, 'COMPLETED');
});
