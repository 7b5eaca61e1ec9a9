/** What a team says, with a GitHub that refuses, is away or loses its answers, and what people do about it. */
import { afterAll, beforeAll, beforeEach, expect, onTestFailed, test } from 'vitest';
import { INSTALLATION_ID, SELF } from '../support/github-server/server.ts';
import { eventually } from './support/api.ts';
import { issueClosed, suiteCompleted } from './support/github-hooks.ts';
import { hurryUntil } from './support/hurry.ts';
import { use } from './support/scripted-model.ts';
import { ALICE, HANDLE, STRANGER, startTeam, type Team } from './support/team.ts';
import { decides, reply, report, works } from './support/team-scripts.ts';

let team: Team;
beforeAll(async () => {
  team = await startTeam();
});
afterAll(async () => {
  await team?.close();
});
beforeEach(() => onTestFailed(() => console.log(team.trouble())));

const CREATE = /POST .*\/issues\/\{issue_number\}\/comments/;
const effectsOf = (threadId: string) => team.list(`/v1/effects?threadId=${threadId}&limit=100`);
const attention = async (): Promise<readonly string[]> => (await team.list('/v1/attention')).map(({ kind }) => kind);
const stateOf = async (threadId: string): Promise<string> =>
  (await effectsOf(threadId)).map(({ state }) => state).join();

/** Every question that names us is answered at once, without a ticket. */
const answering = async (policy: object = {}): Promise<void> => {
  team.model.script(
    'router',
    decides(({ text }) => ({ decision: 'answer', reply: `Yes: ${/ask \w+/.exec(text)?.[0]}` })),
  );
  await team.policy(policy);
};

test('an installation that is suspended stops its source once; what waited goes out when a person takes it up again', async () => {
  await answering();
  team.github.installation.suspended = true;
  const issue = await team.opens(1, ALICE, 'A', `${HANDLE} ask one`);
  const { threadId } = await team.triggerOf('ask one');
  await eventually('it is held', async () => (await stateOf(threadId)) === 'held');
  expect(await team.cloud.must('GET', `/v1/sources/${team.sourceId}`)).toMatchObject({ state: 'suspended' });
  expect(await attention()).toEqual(['source_stopped']);
  expect(await team.cloud.must('GET', '/v1/status')).toMatchObject({ code: 2 });

  team.github.installation.suspended = false;
  await team.cloud.must('PATCH', `/v1/sources/${team.sourceId}`, { state: 'active' });
  await eventually('it is out', async () => (await stateOf(threadId)) === 'sent');
  expect(team.ours(issue)).toHaveLength(1);
  expect(await attention()).toEqual([]);
}, 60_000);

test('a lost answer is looked for and not said again (B28); a limit is waited out; a refusal goes to a person, who tries again', async () => {
  await answering();
  team.github.fault(CREATE, 'lost');
  const lost = await team.opens(2, ALICE, 'B', `${HANDLE} ask two`);
  const { threadId: lostIn } = await team.triggerOf('ask two');
  await eventually('nobody knows', async () => (await stateOf(lostIn)) === 'unknown');
  await hurryUntil(team, async () => (await stateOf(lostIn)) === 'sent', 60);
  expect(team.ours(lost)).toHaveLength(1);

  team.github.fault(CREATE, { status: 429, message: 'secondary rate limit', headers: { 'retry-after': '1' } });
  const limited = await team.opens(3, ALICE, 'C', `${HANDLE} ask three`);
  const { threadId: limitedIn } = await team.triggerOf('ask three');
  await hurryUntil(team, async () => (await stateOf(limitedIn)) === 'sent', 60);
  expect(team.ours(limited)).toHaveLength(1);

  team.github.fault(CREATE, { status: 422, message: 'Validation Failed' });
  const refused = await team.opens(4, ALICE, 'D', `${HANDLE} ask four`);
  const { threadId: refusedIn } = await team.triggerOf('ask four');
  await eventually('it was given up', async () => (await stateOf(refusedIn)) === 'dead');
  expect(await attention()).toEqual(['effect_undelivered']);
  const [effect] = await effectsOf(refusedIn);
  await team.cloud.must('POST', `/v1/effects/${effect?.id}/retry`);
  await eventually('it is out', async () => (await stateOf(refusedIn)) === 'sent');
  expect(team.ours(refused)).toHaveLength(1);
  expect(await attention()).toEqual([]);
}, 150_000);

test('a stop takes what was queued along (I9), and nothing is said where the discussion was closed', async () => {
  team.model.script(
    'router',
    decides(() => ({ decision: 'accept', title: 'Queued' })),
  );
  team.model.script(
    'worker',
    works(({ step }) => (step === 0 ? reply('Late words.') : report('ready', 'ok'))),
  );
  await team.policy();
  team.github.fault(CREATE, { status: 429, headers: { 'retry-after': '600' } });
  const issue = await team.opens(5, ALICE, 'E', `${HANDLE} please begin.`);
  const { threadId } = await team.triggerOf('please begin.');
  await team.ticketIn('person/review', threadId);
  await eventually('it waits for GitHub', async () =>
    team.github.seen.some(({ path }) => path.endsWith('/issues/5/comments')),
  );
  await team.says(issue, ALICE, `${HANDLE} stop`);
  await team.ticketIn('closed', threadId);
  await hurryUntil(team, async () => (await stateOf(threadId)) === 'dead', 60);
  expect(team.ours(issue)).toEqual([]);

  await answering();
  team.github.fault(CREATE, { status: 429, headers: { 'retry-after': '600' } });
  const closing = await team.opens(6, ALICE, 'F', `${HANDLE} ask six`);
  const { threadId: closingIn } = await team.triggerOf('ask six');
  await eventually('it waits for GitHub', async () =>
    team.github.seen.some(({ path }) => path.endsWith('/issues/6/comments')),
  );
  // Sixty seconds later, as a rule lets somebody comment and close in one go.
  const hook = issueClosed(team.repository, closing, ALICE, INSTALLATION_ID);
  const later = new Date(Date.now() + 120_000).toISOString();
  const { issue: payload, ...rest } = hook.payload as { readonly issue: object };
  await team.hook({ ...hook, payload: { ...rest, issue: { ...payload, closed_at: later, updated_at: later } } });
  await eventually('the discussion is closed', async () => {
    const { text } = await team.cloud.call('GET', `/v1/threads/${closingIn}`);
    return text.includes('"closed"');
  });
  await hurryUntil(team, async () => (await stateOf(closingIn)) === 'dead', 60);
  expect(team.ours(closing)).toEqual([]);
  expect(await attention()).toEqual([]);
}, 150_000);

test('more replies within an hour than the policy allows mute a discussion until a person lets it go on (A1)', async () => {
  await answering({ breaker: { repliesPerThreadPerHour: 2 } });
  const issue = await team.opens(7, ALICE, 'G', `${HANDLE} ask first`);
  const { threadId } = await team.triggerOf('ask first');
  for (const word of ['second', 'third', 'fourth']) await team.says(issue, ALICE, `${HANDLE} ask ${word}`);
  await eventually('two are out, two held', async () => {
    const states = (await effectsOf(threadId)).map(({ state }) => state).toSorted();
    return states.join() === 'held,held,sent,sent';
  });
  expect(team.ours(issue)).toHaveLength(2);
  expect(await attention()).toEqual(['thread_muted']);
  const held = (await effectsOf(threadId)).find(({ state }) => state === 'held');
  await team.cloud.must('POST', `/v1/effects/${held?.id}/release`);
  await eventually('all are out', async () => (await stateOf(threadId)) === 'sent,sent,sent,sent');
  expect(team.ours(issue)).toHaveLength(4);
  expect(await attention()).toEqual([]);
}, 60_000);

test('a pull request: its diff is read, failed checks begin a turn by themselves, and what is ready asks for a review', async () => {
  team.model.script(
    'router',
    decides(() => ({ decision: 'accept', title: 'A pull request', mandate: { verb: 'pr' } })),
  );
  const worker = team.model.script(
    'worker',
    works(({ n, step }) => {
      if (n === 1 && step === 0) return use('repo_diff', { number: 8 });
      if (n === 1) return report('waiting', 'For the checks.', 'event');
      return step === 0 ? reply('The checks fail.') : report('ready', 'Looked at.');
    }),
  );
  const sha = 'd'.repeat(40);
  await team.policy({
    grants: [{ sourceId: team.sourceId, scope: '*', repositoryIds: [String(team.repository.id)], maxVerb: 'pr' }],
  });
  const files = [{ filename: 'src/a.ts', status: 'modified', additions: 1, deletions: 0, patch: '@@ -1 +1,2 @@\n+x' }];
  const pull = team.github.issue(team.repository, {
    number: 8,
    user: STRANGER,
    pull: { headSha: sha, baseSha: 'b'.repeat(40), files },
  });
  team.repository.checks.push({ sha, name: 'lint', status: 'completed', conclusion: 'failure' });
  await team.says(pull, ALICE, `${HANDLE} watch this pull request.`);
  const { threadId } = await team.triggerOf('watch this pull request');
  expect(await team.cloud.must('GET', `/v1/threads/${threadId}`)).toMatchObject({
    key: `gh:${team.repository.id}:pr:8`,
  });
  const idle = await team.ticketIn('idle', threadId);
  expect(worker.calls[1]?.messages.some(({ content }) => content?.includes('src/a.ts'))).toBe(true);

  // GitHub names who pushed as the sender of a check: ourselves.
  await team.hook(suiteCompleted(team.repository, sha, SELF, INSTALLATION_ID));
  const ready = await team.ticketIn('person/review', threadId);
  expect(ready.executionIds).toEqual(idle.executionIds);
  await eventually('Alice is asked for a review', () => pull.requested.includes(ALICE.login));
  expect(team.ours(pull).map(({ body }) => body)).toEqual([expect.stringMatching(/^The checks fail\./)]);
}, 60_000);

test('GitHub has understood every request, and every model its prompt', () => {
  expect(team.github.complaints).toEqual([]);
  expect(team.model.problems).toEqual([]);
});
