/** The Router team while everything is killed and messages come twice and out of order: nothing is lost, nothing said twice. */
import { afterAll, expect, onTestFailed, test } from 'vitest';
import { eventually } from './support/api.ts';
import { hurryUntil } from './support/hurry.ts';
import { use } from './support/scripted-model.ts';
import { ALICE, HANDLE, STRANGER, startTeam, type Team } from './support/team.ts';
import { decides, reply, report, turnOf } from './support/team-scripts.ts';

let team: Team | undefined;
afterAll(async () => {
  await team?.close();
});

const ISSUES = 4;
const KILLS = 2;
const CREATE = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';

test(`kill -9 of everything, ${KILLS} times, with copies and another order: each reply is visible once (I13)`, async () => {
  onTestFailed(() => console.log(team?.trouble()));
  team = await startTeam({ BATON_CHAOS: 'duplicate=0.3,reorder=0.2,seed=5', LEASE_SECONDS: '3' });
  const { cloud, github, model, policy, opens, says, triggerOf, ours, list } = team;
  const router = model.script(
    'router',
    decides(() => ({ decision: 'accept', title: 'Fonts' })),
  );
  /** What the ticket says depends on what Alice has said, whoever speaks besides. */
  const worker = model.script('worker', ({ messages }) => {
    const size = messages.map(({ content }) => /Make it (\d+px)/.exec(content ?? '')?.[1]).find((found) => found);
    const { step } = turnOf(messages);
    if (step === 0) return use('repo_read', { path: 'src/fonts.css' });
    if (step === 1) return { ...reply(`The size: ${size ?? 'open'}.`), waitMs: 30 };
    return size === undefined ? report('waiting', 'How large?', 'person') : report('ready', 'Done.');
  });
  await policy();
  const created = (): number => github.seen.filter(({ operation }) => operation === CREATE).length;

  // Done, and nobody hears of it: the whole cloud dies with the first answer of GitHub on its way, and once more later.
  github.fault(/POST .*comments/, 'lost', 1);
  const issues = await Promise.all(
    Array.from({ length: ISSUES }, (_, n) => opens(n + 1, ALICE, 'Fonts', `${HANDLE} the fonts of page ${n + 1}.`)),
  );
  let fired = 0;
  for (let kill = 1; kill <= KILLS; kill++) {
    if (kill === 1) await eventually('a comment was made', () => created() > 0, 120);
    else fired += await hurryUntil(team, async () => created() >= ISSUES, 60);
    await cloud.kill();
    await cloud.start();
  }
  const threads = await Promise.all(issues.map(async (_, n) => (await triggerOf(`page ${n + 1}.`)).threadId));
  const allAre = async (phase: string): Promise<boolean> => {
    const tickets = await list('/v1/tickets?limit=100');
    return tickets.length === ISSUES && tickets.every((ticket) => ticket.phase === phase);
  };
  fired += await hurryUntil(team, () => allAre('person/answer'), 150);
  await Promise.all(
    issues.flatMap((issue, n) => [says(issue, ALICE, `Make it ${n + 10}px.`), says(issue, STRANGER, `Mine too ${n}.`)]),
  );
  fired += await hurryUntil(team, () => allAre('person/review'), 150);
  fired += await hurryUntil(
    team,
    async () => (await list('/v1/effects?limit=100')).every(({ state }) => state === 'sent'),
    90,
  );

  for (const [n, issue] of issues.entries()) {
    const bodies = ours(issue).map(({ body }) => body);
    const texts = bodies.map((body) => body.replace(/\n\n<!-- baton:\S+ -->$/, ''));
    expect(texts.toSorted(), `issue ${issue.number}`).toEqual(['How large?', `The size: ${n + 10}px.`]);
    expect(new Set(bodies.map((body) => /baton:(\S+)/.exec(body)?.[1])).size).toBe(2);
  }
  for (const threadId of threads) {
    const decided = await list(`/v1/decisions?threadId=${threadId}`);
    expect(decided.map(({ decision }) => decision)).toEqual(['accept']);
    const triggers = await list(`/v1/triggers?threadId=${threadId}&limit=100`);
    expect(triggers.map(({ state }) => state).toSorted()).toEqual(['decided', 'delivered', 'delivered']);
  }
  const [ticket] = await list('/v1/tickets?limit=1');
  expect(ticket?.mandate.state).toBe('active');
  // A claim buys one reply: at most what stood in somebody's hands at a kill was bought twice.
  expect(router.calls.length).toBeLessThanOrEqual(ISSUES * (1 + KILLS));
  expect(worker.calls.length).toBeLessThanOrEqual(ISSUES * (6 + KILLS));
  expect(github.complaints).toEqual([]);
  expect(model.problems).toEqual([]);
  console.log(
    `${KILLS} kills: ${router.calls.length} calls of the Eval, ${worker.calls.length} of workers, ${created()} comments made, the clock came ${fired} times`,
  );
}, 400_000);
