/** Reviews with their notes, edits, deletions and checks of a pull request, end to end: what is one thing is one Trigger. */
import { afterAll, beforeAll, beforeEach, expect, onTestFailed, test } from 'vitest';
import { INSTALLATION_ID, SELF } from '../support/github-server/server.ts';
import type { Comment, Issue, Repository } from '../support/github-server/state.ts';
import { eventually } from './support/api.ts';
import { commentCreated, suiteCompleted } from './support/github-hooks.ts';
import { checkCompleted, commentChanged, noteTold, reviewTold } from './support/github-review-hooks.ts';
import { ALICE, HANDLE, type Shown, STRANGER, startTeam, type Team } from './support/team.ts';
import { decides, report, works } from './support/team-scripts.ts';

let team: Team;
beforeAll(async () => {
  team = await startTeam();
});
afterAll(async () => {
  await team?.close();
});
beforeEach(() => onTestFailed(() => console.log(team.trouble())));

/** Seconds are what GitHub tells: what is to be later has to be later by one. */
const SECOND_MS = 1_000;

const policy = async (): Promise<void> => {
  const { sourceId } = team;
  await team.policy({
    admission: ['issue_comment', 'pull_request_review', 'pull_request_review_comment'].map((scope) => ({
      sourceId,
      scope,
      ceiling: 'explicit',
    })),
  });
};

const pull = (number: number, sha: string): Issue =>
  team.github.issue(team.repository, {
    number,
    user: STRANGER,
    pull: { headSha: sha.repeat(40), baseSha: '0'.repeat(40), files: [] },
  });

const triggersOf = async (threadId: string): Promise<readonly Shown[]> =>
  team.list(`/v1/triggers?threadId=${threadId}&limit=100`);

const textOf = async ({ id, threadId }: Shown): Promise<string> =>
  (await triggersOf(threadId)).find((one) => one.id === id)?.text ?? '';

const edit = (comment: Comment, body: string): void => {
  comment.body = body;
  comment.updatedAt += SECOND_MS;
};

const notesOf = (issue: Issue, review: { readonly id: number }): readonly Comment[] =>
  issue.notes.filter((note) => note.review === review.id);

const nothingWrong = (): void => {
  expect(team.github.complaints).toEqual([]);
  expect(team.model.problems).toEqual([]);
};

test('a review and its notes are one Trigger, whichever event comes first; edits are its revisions, and the last deletion withdraws it', async () => {
  team.model.script(
    'router',
    decides(() => ({ decision: 'accept', title: 'What the review asks for' })),
  );
  const worker = team.model.script(
    'worker',
    works(({ n }) => report('waiting', `Question ${n}?`, 'person')),
  );
  await policy();
  const issue = pull(1, 'a');
  const review = team.github.review(issue, ALICE, { state: 'COMMENTED', body: `${HANDLE} please mend both.` }, [
    { path: 'src/a.ts', line: 3, body: 'This leaks.' },
    { path: 'src/b.ts', line: 7, body: 'This too.' },
  ]);
  const [first, second] = notesOf(issue, review) as [Comment, Comment];
  await team.hook(noteTold(team.repository, issue, second));
  await Promise.all([
    team.hook(reviewTold(team.repository, issue, review)),
    team.hook(noteTold(team.repository, issue, first)),
  ]);
  const trigger = await team.triggerOf('please mend both');
  const { id, threadId } = trigger;
  const ticket = await team.ticketIn('person/answer', threadId);
  expect(await triggersOf(threadId)).toHaveLength(1);
  const text = await textOf(trigger);
  expect(text).toMatch(
    /^Review: comments, of commit aaaaaaaaaaaa\.\n\n@baton-test please mend both\.\n\nNote \d+ on src\/a\.ts line 3:/,
  );
  expect(text.indexOf('This leaks.')).toBeLessThan(text.indexOf('This too.'));
  await eventually('it has asked', () => team.ours(issue).length === 1);
  expect(issue.notes).toHaveLength(2);

  edit(first, 'This leaks a handle.');
  await team.hook(noteTold(team.repository, issue, first, 'edited'));
  await eventually('the worker has the new words', () =>
    worker.calls.some(({ messages }) => messages.some(({ content }) => content?.includes('This leaks a handle.'))),
  );
  expect(await triggersOf(threadId)).toMatchObject([{ id, revision: 2, ticketIds: [ticket.id] }]);
  expect(worker.calls, 'one turn more').toHaveLength(2);

  issue.notes.splice(0, 1);
  await team.hook(noteTold(team.repository, issue, first, 'deleted'));
  await eventually('one note is left', async () => !(await textOf(trigger)).includes('leaks a handle'));
  review.body = '';
  await team.hook(reviewTold(team.repository, issue, review, 'edited'));
  issue.notes.splice(0, 1);
  await team.hook(noteTold(team.repository, issue, second, 'deleted'));
  await eventually('nothing is left of it', async () => (await triggersOf(threadId))[0]?.state === 'withdrawn');
  expect(await triggersOf(threadId)).toHaveLength(1);
  await team.cloud.must('POST', `/v1/tickets/${ticket.id}/stop`);
  nothingWrong();
}, 60_000);

test('a single note is answered where it stands', async () => {
  team.model.script(
    'router',
    decides(() => ({ decision: 'answer', reply: 'Because it was faster.' })),
  );
  await policy();
  const issue = pull(2, 'b');
  const review = team.github.review(issue, ALICE, { state: 'COMMENTED' }, [
    { path: 'src/a.ts', line: 3, body: `${HANDLE} why this line?` },
  ]);
  const [note] = notesOf(issue, review) as [Comment];
  await team.hook(noteTold(team.repository, issue, note));
  await team.hook(reviewTold(team.repository, issue, review));
  await eventually('it was answered', () => issue.notes.length === 2);
  expect(issue.notes[1]).toMatchObject({ inReplyTo: note.id, user: { id: SELF.id } });
  expect(issue.notes[1]?.body).toMatch(/^Because it was faster\./);
  const { threadId } = await team.triggerOf('why this line');
  expect(await triggersOf(threadId)).toHaveLength(1);
  expect(team.ours(issue)).toEqual([]);
  nothingWrong();
}, 60_000);

test('what is edited while the model thinks is judged in its new words, what is deleted is not taken up', async () => {
  const issue = team.github.issue(team.repository, { number: 3, user: STRANGER });
  const said: Comment[] = [];
  const router = team.model.script('router', async (call) => {
    const [asked, deleted] = said as [Comment, Comment];
    if (call.n === 1) {
      const before = asked.body;
      edit(asked, `${HANDLE} only look, change nothing.`);
      await team.hook(commentChanged(team.repository, issue, asked, before));
      await team.hook(commentChanged(team.repository, issue, deleted, 'deleted'));
      await eventually('both are heard of', async () => {
        const states = (await team.list('/v1/triggers?limit=100')).map(({ text, state }) => `${state} ${text}`);
        return states.some((one) => /only look/.test(one)) && states.some((one) => /^withdrawn .*and that/.test(one));
      });
    }
    return decides(({ text }) =>
      text.includes('only look') ? { decision: 'answer', reply: 'I have looked.' } : { decision: 'accept', title: 'x' },
    )(call);
  });
  await policy();
  said.push(team.github.comment(issue, ALICE, `${HANDLE} change this.`));
  said.push(team.github.comment(issue, ALICE, `${HANDLE} and that.`));
  const [asked, deleted] = said as [Comment, Comment];
  // Both are pending before the model is asked: the first one's Eval begins with the second's hook on its way.
  await team.hook(commentCreated(team.repository, issue, asked, INSTALLATION_ID));
  await team.hook(commentCreated(team.repository, issue, deleted, INSTALLATION_ID));
  await eventually('it was answered', () => team.ours(issue).length === 1);
  const { threadId } = await team.triggerOf('only look');
  expect(await team.list(`/v1/tickets?threadId=${threadId}`)).toEqual([]);
  expect((await triggersOf(threadId)).map(({ state }) => state).toSorted()).toEqual(['decided', 'withdrawn']);
  expect(team.ours(issue)[0]?.body).toMatch(/^I have looked\./);
  expect(router.calls.length).toBeGreaterThan(1);
  nothingWrong();
}, 60_000);

test('checks of one head commit are one Trigger that tells how they stand; those of an older head are nobody’s', async () => {
  team.model.script(
    'router',
    decides(() => ({ decision: 'ignore' })),
  );
  const { sourceId } = team;
  await team.policy({ admission: [{ sourceId, scope: 'check_run', ceiling: 'inferred' }] });
  const issue = pull(4, 'd');
  const sha = issue.pull?.headSha ?? '';
  const at = Math.floor(Date.now() / SECOND_MS) * SECOND_MS;
  const ends = async (name: string, conclusion: string, afterMs = 0): Promise<void> => {
    const check: Repository['checks'][number] = {
      sha,
      name,
      status: 'completed',
      conclusion,
      completedAt: at + afterMs,
    };
    const others = team.repository.checks.filter((one) => one.name !== name);
    team.repository.checks.splice(0, team.repository.checks.length, ...others, check);
    await team.hook(checkCompleted(team.repository, check, STRANGER));
  };
  // All within one second, as GitHub tells time, each looked at by itself.
  await ends('unit', 'failure');
  const trigger = await team.triggerOf(`Checks of ${sha} failed: unit (failure).`);
  const { id, threadId } = trigger;
  await ends('lint', 'failure');
  await eventually('both are told', async () => /lint \(failure\), unit \(failure\)/.test(await textOf(trigger)));
  await ends('types', 'success');
  await team.hook(suiteCompleted(team.repository, sha, SELF, INSTALLATION_ID));
  await ends('unit', 'success', 60_000);
  await ends('lint', 'success', 61_000);
  await team.hook(suiteCompleted(team.repository, sha, SELF, INSTALLATION_ID));
  await eventually('all is well', async () => /passed: all 3/.test(await textOf(trigger)));
  expect(await triggersOf(threadId)).toMatchObject([{ id, kind: 'check', gate: { class: 'inferred' } }]);

  const before = await team.list(`/v1/sources/${sourceId}/deliveries?verdict=dropped&limit=100`);
  Object.assign(issue.pull ?? {}, { headSha: 'e'.repeat(40) });
  await ends('late', 'failure', 90_000);
  await eventually('it was dropped', async () => {
    const now = await team.list(`/v1/sources/${sourceId}/deliveries?verdict=dropped&limit=100`);
    return now.length > before.length && now[0]?.reason?.code === 'no_pull_request';
  });
  expect(await triggersOf(threadId)).toHaveLength(1);
  nothingWrong();
}, 60_000);
