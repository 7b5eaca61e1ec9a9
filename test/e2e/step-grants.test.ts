/** Each grant of the step function is taken away in turn while one local cloud runs. */
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from './support/api.ts';
import { type Grant, grantsOf, type LiveGrants, startLiveGrants } from './support/live-grants.ts';
import { finish, type Script, use } from './support/scripted-model.ts';

/** Grants that are not taken away here, and why. */
const NOT_TAKEN: readonly (readonly [Grant, why: string])[] = [
  [
    'step stepQueue sqs:GetQueueAttributes',
    'Lambda demands it of the role of an event source mapping; the local poller does not ask.',
  ],
  [
    'step fireQueue sqs:SendMessage',
    'Asked for at the end of a scheduled run only; without it the mark of the schedule serves, as in test/schedule.',
  ],
  [
    'step parameter/org/*/source/* ssm:GetParameter',
    'Asked for by a worker that reads a repository; taken away in test/e2e/router-grants.test.ts.',
  ],
];

/** Without it… */
type Ends =
  /** …the run that needs it does not get on. */
  | 'stands'
  /** …runs end all the same: it serves those who come after, or the message that was done. */
  | 'completes';

/** A run writes a file, reads it and ends. What it does besides: */
type Work =
  | 'plain'
  /** On the organisation's own model account instead of the operator's. */
  | 'own'
  /** Its file is lost before it is read. */
  | 'missing'
  /** It starts another run. */
  | 'family'
  /** It is a worker that looks at what else is going on. */
  | 'overview'
  /** A message that nobody can read comes besides. */
  | 'garbled';

const CASES: readonly (readonly [Grant, Ends, Work])[] = [
  // A process remembers models: what reads them comes first.
  ['step parameter/model ssm:GetParameter', 'stands', 'plain'],
  ['step parameter/org/*/provider/* ssm:GetParameter', 'stands', 'own'],
  ['step table dynamodb:GetItem', 'stands', 'plain'],
  ['step table dynamodb:Query', 'stands', 'plain'],
  ['step table dynamodb:PutItem', 'stands', 'plain'],
  ['step table dynamodb:UpdateItem', 'stands', 'plain'],
  ['step table dynamodb:ConditionCheckItem', 'stands', 'family'],
  ['step table dynamodb:BatchGetItem', 'stands', 'overview'],
  ['step table/index/byOwner dynamodb:Query', 'stands', 'overview'],
  ['step stepQueue sqs:SendMessage', 'stands', 'plain'],
  ['step stepQueue sqs:ReceiveMessage', 'stands', 'plain'],
  ['step stepQueue sqs:DeleteMessage', 'completes', 'plain'],
  ['step stepQueue sqs:ChangeMessageVisibility', 'stands', 'plain'],
  ['step effectQueue sqs:SendMessage', 'completes', 'plain'],
  ['step bucket s3:ListBucket', 'stands', 'missing'],
  ['step bucket/org/* s3:GetObject', 'stands', 'plain'],
  ['step bucket/org/* s3:PutObject', 'stands', 'plain'],
  ['step bucket/parked/* s3:PutObject', 'completes', 'garbled'],
];

let team: LiveGrants;
let lost = false;

/** What a run does stands in its goal: the script has no memory. */
const script: Script = async ({ messages }) => {
  const goal = messages.map(({ content }) => content ?? '').join('\n');
  const step = messages.filter(({ role }) => role === 'assistant').length + 1;
  if (goal.includes('CHILD') && !goal.includes('WORK family')) return finish('done');
  if (goal.includes('(ticket tkt_')) return step === 1 ? use('read', { id: 'overview' }) : finish('done');
  if (step === 1) return use('write_file', { path: 'a.txt', content: 'x' });
  if (step === 2 && goal.includes('WORK missing') && !lost) {
    lost = true;
    await team.operator.loseObjects();
  }
  if (step === 3 && goal.includes('WORK family')) return use('run_agent', { goal: 'CHILD' });
  return step === 2 ? use('read_file', { path: 'a.txt' }) : finish('done');
};

beforeAll(async () => {
  team = await startLiveGrants();
  for (const name of ['own', 'shared']) team.model.script(name, script);
  const provider = { baseUrl: team.model.url, apiKey: 'key-of-the-organisation', models: [{ name: 'own' }] };
  await team.cloud.must('PUT', '/v1/providers/own', provider);
  await team.cloud.must('PUT', '/v1/policy', { worker: { model: 'shared' } });
}, 60_000);
afterAll(async () => {
  await team?.close();
});

/** @returns the run */
const begin = async (work: Work): Promise<string> => {
  if (work === 'garbled') {
    const QueueUrl = team.operator.queueUrl('baton-dev-steps');
    await team.operator.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'no json', MessageGroupId: 'any' }));
  }
  if (work === 'overview') {
    const { executionIds } = await team.cloud.must('POST', '/v1/tickets', { title: 'Look', text: 'Look around.' });
    return executionIds[0] ?? 'none';
  }
  const tools = ['write_file', 'read_file', 'run_agent'];
  return (await team.cloud.run({ goals: [`WORK ${work}`], model: work === 'own' ? 'own' : 'shared', tools })).id;
};

test('every grant of the step function is taken away below, or it is said why not', () => {
  const told = [...CASES, ...NOT_TAKEN].map(([grant]) => grant);
  expect(told.toSorted()).toEqual(grantsOf('step').toSorted());
});

test.each(CASES)(
  'without %s what needs it %s',
  async (grant, ends, work) => {
    let id = '';
    await team.without(
      grant,
      async () => {
        id = await begin(work);
      },
      {
        async meanwhile() {
          await eventually('it has begun', () => id !== '');
          if (ends === 'completes') await team.cloud.until(id, 'COMPLETED', 20);
          else expect((await team.cloud.must('GET', `/v1/executions/${id}`)).status).toBe('RUNNING');
        },
      },
    );
  },
  40_000,
);

test('with all of them back every run comes to its end; who was refused has said so, and nobody else was', async () => {
  for (const work of ['plain', 'own', 'family'] as const) await team.cloud.until(await begin(work), 'COMPLETED', 30);
  const lines = team.lines('step');
  const silent = CASES.filter(([grant]) => {
    const action = grant.split(' ')[2];
    return !lines.some((line) => line.includes(`not authorized to perform: ${action} on resource`));
  });
  expect(silent.map(([grant]) => grant)).toEqual([]);
  expect([...team.redundant]).toEqual([]);
  const taken = CASES.map(([grant]) => grant.replace(/ \S+ /, ' '));
  const others = (await team.close()).filter((refused) => !taken.includes(refused));
  expect(others, 'what the template itself refuses').toEqual([]);
}, 60_000);
