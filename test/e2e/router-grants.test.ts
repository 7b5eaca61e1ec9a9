/**
 * Each grant of the Router's functions is taken away in turn while one local cloud runs. Whoever needs it is refused and a
 * log says so; with everything back what was held up comes to its end.
 */
import { PurgeQueueCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { A } from '../../lib/execution/execution.ts';
import { due } from '../../lib/kernel/keys.ts';
import { INSTALLATION_ID } from '../support/github-server/server.ts';
import type { Issue } from '../support/github-server/state.ts';
import { eventually } from './support/api.ts';
import { deliver, issueOpened, suiteCompleted } from './support/github-hooks.ts';
import { hurryUntil } from './support/hurry.ts';
import { type Grant, grantsOf, type LiveGrants, startLiveGrants } from './support/live-grants.ts';
import { type Row, rowsOf, TABLE_NAME } from './support/rows.ts';
import { type Heard, use } from './support/scripted-model.ts';
import { ALICE, HANDLE, type Shown, STRANGER } from './support/team.ts';
import { decides, reply, report, works } from './support/team-scripts.ts';

/** Grants that are not taken away here, and why. */
const NOT_TAKEN: readonly (readonly [why: string, ...Grant[]])[] = [
  [
    'Lambda demands it of the role of an event source mapping; the local poller does not ask.',
    'resolve inboxQueue sqs:GetQueueAttributes',
    'assess assessQueue sqs:GetQueueAttributes',
    'effect effectQueue sqs:GetQueueAttributes',
  ],
  [
    'Asked for by what the engine leaves to the clock and by its webhooks: test/e2e/attention, schedules, waits, webhooks.',
    'tick table dynamodb:GetItem',
    'tick table dynamodb:PutItem',
    'tick table dynamodb:DeleteItem',
    'tick stepQueue sqs:SendMessage',
    'tick fireQueue sqs:SendMessage',
    'sweep stepQueue sqs:SendMessage',
    'effect parameter/org/*/webhook/* ssm:GetParameter',
  ],
];

let team: LiveGrants;
let heard: Heard;
let numbers = 0;
/** The ticket that a message is to join. */
let joinTo = '';
/** Until then the Eval, or a worker who was told so, thinks. */
let evalThinks: Promise<void> = Promise.resolve();
let workerThinks: Promise<void> = Promise.resolve();

beforeAll(async () => {
  team = await startLiveGrants();
  const router = decides(({ text }) => {
    if (text.includes('nothing')) return { decision: 'ignore' };
    return text.includes('join') ? { decision: 'join', ticketId: joinTo } : { decision: 'accept', title: 'Work' };
  });
  const worker = works(({ n, step, said }) => {
    if (said.includes('read on') && step === 0) return use('repo_read', { path: 'README.md' });
    return step === (said.includes('read on') ? 1 : 0)
      ? reply(`Answer ${n}.`)
      : report('waiting', 'And now?', 'person');
  });
  heard = team.model.script('router', async (call) => {
    await evalThinks;
    return router(call);
  });
  team.model.script('worker', async (call) => {
    if (call.messages.some(({ content }) => content?.includes('slow work'))) await workerThinks;
    return worker(call);
  });
  team.model.script('own-router', router);
  team.model.script('own-worker', worker);
  const models = [{ name: 'own-router' }, { name: 'own-worker' }];
  await team.cloud.must('PUT', '/v1/providers/own', { baseUrl: team.model.url, apiKey: 'k', models });
  await team.policy({ maxWorkers: 16 });
}, 60_000);
afterAll(async () => {
  await team?.close();
});

const opens = (words = 'work', by = ALICE): Promise<Issue> => {
  const number = ++numbers;
  return team.opens(number, by, 'Work', `${HANDLE} ${words} ${number}.`);
};

const opened = async (phase: string, words = 'work'): Promise<readonly [Issue, Shown]> => {
  const issue = await opens(words);
  const { threadId } = await team.triggerOf(`${words} ${issue.number}.`);
  return [issue, await team.ticketIn(phase, threadId)];
};

/** A ticket whose worker waits for a person; one for all that only look at it. */
let standing: Promise<readonly [Issue, Shown]> | undefined;
const waiting = (): Promise<readonly [Issue, Shown]> => {
  standing ??= opened('person/answer');
  return standing;
};

/** A ticket that goes on, whose run has ended for good: the next one needs the price of a model. */
const ended = async (): Promise<readonly [Issue, Shown]> => {
  const [issue, ticket] = await opened('person/answer');
  const { id: orgId } = await team.cloud.must('GET', '/v1/organisation');
  await rowsOf(team.operator, orgId).changeExecution(ticket.executionIds[0] ?? '', { [A.status]: 'COMPLETED' });
  return [issue, ticket];
};

/** Workers who are at slow work think until they are let go. */
const holdWorkers = (): (() => void) => {
  let letGo = (): void => undefined;
  workerThinks = new Promise((done) => {
    letGo = done;
  });
  return () => letGo();
};

/** No message waits any more. */
const settled = async (): Promise<void> => {
  const open = async () =>
    (await team.list('/v1/triggers?limit=100')).filter(({ state }) => state === 'pending' || state === 'delivering');
  await hurryUntil(team, async () => (await open()).length === 0, 40);
};

const rows = async (): Promise<readonly Row[]> => {
  const { Items = [] } = await team.operator.table.send(
    new ScanCommand({ TableName: TABLE_NAME, ConsistentRead: true }),
  );
  return Items as Row[];
};

/** Lets the clock find a row, as if its mark had come. */
const comesDue = async (rule: 'sweep' | 'tick', sk: RegExp, idOf: (row: Row) => string, also: object = {}) => {
  const row = (await rows()).find((one) => sk.test(one.sk));
  if (row === undefined) throw new Error(`No row has ${String(sk)}.`);
  const mark = { duePk: due.pkOf(rule, idOf(row)), dueSk: due.sk(Date.now() - 60_000, idOf(row)) };
  await rowsOf(team.operator, '').change(row, { ...mark, ...also });
  await team.cloud.must('POST', `/_local/rules/${rule}/fire`);
};
const deliveryComesDue = () =>
  comesDue('sweep', /^DELIVERY#/, (row) => row.sk.slice('DELIVERY#'.length), { verdict: 'received' });

const garbles = (queue: string) => async () => () =>
  team.operator.sqs.send(
    new SendMessageCommand({
      QueueUrl: team.operator.queueUrl(`baton-dev-${queue}`),
      MessageBody: 'no json',
      MessageGroupId: 'any',
    }),
  );

type Scene =
  | 'strangerAsks'
  | 'opens'
  | 'isIgnored'
  | 'talks'
  | 'reads'
  | 'says'
  | 'saysInTurn'
  | 'saysToEnded'
  | 'joinsEnded'
  | 'terminates'
  | 'knocks'
  | 'checks'
  | 'losesObjects'
  | 'garblesInbox'
  | 'garblesAssess'
  | 'garblesEffects'
  | 'changesPolicy'
  | 'givesPlace'
  | 'losesMessages'
  | 'sweepsThread'
  | 'sweepsSlots'
  | 'sweepsDelivery'
  | 'ticksPosting'
  | 'ownRouter'
  | 'ownWorkerSays'
  | 'ownWorkerJoins';

/** What is prepared while all grants stand; and then what makes a function ask. */
const SCENES: { readonly [name in Scene]: () => Promise<() => Promise<unknown>> } = {
  strangerAsks: async () => () => opens('work', STRANGER),
  opens: async () => () => opens(),
  isIgnored: async () => () => opens('nothing'),
  talks: async () => {
    const [issue] = await waiting();
    return () => team.says(issue, ALICE, `And ${++numbers}?`);
  },
  reads: async () => () => opens('read on'),
  says: async () => {
    const [issue] = await opened('person/answer');
    return () => team.says(issue, ALICE, `And ${++numbers}?`);
  },
  saysToEnded: async () => {
    const [issue] = await ended();
    return () => team.says(issue, ALICE, 'Go on.');
  },
  joinsEnded: async () => {
    joinTo = (await ended())[1].id;
    return () => opens('join');
  },
  terminates: async () => {
    const [, { executionIds }] = await opened('person/answer');
    return () => team.cloud.must('POST', `/v1/executions/${executionIds[0]}/terminate`);
  },
  knocks: async () => {
    const [issue] = await waiting();
    const hook = issueOpened(team.repository, issue, INSTALLATION_ID);
    return () => deliver(`${team.cloud.url()}/ingest/${team.sourceId}`, 'another secret', hook);
  },
  checks: async () => () => team.hook(suiteCompleted(team.repository, 'd'.repeat(40), STRANGER, INSTALLATION_ID)),
  losesObjects: async () => {
    await waiting();
    await team.operator.loseObjects('org/');
    return deliveryComesDue;
  },
  garblesInbox: garbles('inbox'),
  garblesAssess: garbles('assess'),
  garblesEffects: garbles('effects'),
  changesPolicy: async () => {
    // Whoever has the only place waits for the clock since the case before.
    await team.policy({ maxWorkers: 16 });
    await waiting();
    return () => team.policy({ maxWorkers: 16, breaker: { repliesPerThreadPerHour: 5 } });
  },
  saysInTurn: async () => {
    const letGo = holdWorkers();
    const [issue] = await opened('working', 'slow work');
    return () => team.says(issue, ALICE, 'And this.').finally(letGo);
  },
  givesPlace: async () => {
    const letGo = holdWorkers();
    await team.policy({ maxWorkers: 1 });
    await opened('working', 'slow work');
    await opened('queued');
    return async () => letGo();
  },
  /** All messages to Evals are gone while one thinks: by its next heartbeat it calls a fresh one. */
  losesMessages: async () => {
    let letGo = (): void => undefined;
    evalThinks = new Promise((done) => {
      letGo = done;
    });
    const before = heard.calls.length;
    await opens();
    await eventually('the Eval thinks', () => heard.calls.length > before);
    return async () => {
      const QueueUrl = team.operator.queueUrl('baton-dev-assess');
      await team.operator.sqs.send(new PurgeQueueCommand({ QueueUrl }));
      setTimeout(letGo, 3_000);
    };
  },
  sweepsThread: async () => () => comesDue('sweep', /^THREAD$/, (row) => String(row.id)),
  sweepsSlots: async () => {
    await waiting();
    return () => comesDue('sweep', /^SLOTS$/, (row) => row.pk);
  },
  sweepsDelivery: async () => deliveryComesDue,
  ticksPosting: async () => () => comesDue('tick', /^POSTING$/, (row) => String(row.id)),
  ownRouter: async () => {
    await team.policy({ maxWorkers: 16, assessment: { model: 'own-router' } });
    return () => opens();
  },
  ownWorkerSays: async () => SCENES.saysToEnded(),
  ownWorkerJoins: async () => {
    // What was refused in the cases before comes again, and would find the own worker.
    await settled();
    await team.policy({ maxWorkers: 16, worker: { model: 'own-worker' } });
    return SCENES.joinsEnded();
  },
};

type Case = readonly [scene: Scene, grant: Grant, ...also: Grant[]];
const on = (name: string, resource: string, actions: readonly string[]): readonly Grant[] =>
  actions.map((action) => `${name} ${resource} ${action}` as Grant);
const table = (name: string, ...words: readonly string[]): readonly Grant[] =>
  on(
    name,
    'table',
    words.map((word) => `dynamodb:${word}`),
  );
const each = (scene: Scene, ...grants: readonly Grant[]): readonly Case[] =>
  grants.map((grant) => [scene, grant] as const);

const CASES: readonly Case[] = [
  // A process remembers secrets and models: what reads them comes first.
  ...each('strangerAsks', 'ingest parameter/org/*/source/* ssm:GetParameter'),
  ...each('opens', 'assess parameter/model ssm:GetParameter', 'effect parameter/org/*/source/* ssm:GetParameter'),
  ...each('reads', 'step parameter/org/*/source/* ssm:GetParameter'),
  // `effect` begins a run for what is said as well as `resolve`, and whoever has read a model remembers it.
  ['saysToEnded', 'resolve parameter/model ssm:GetParameter', 'effect parameter/model ssm:GetParameter'],
  ...each('joinsEnded', 'effect parameter/model ssm:GetParameter'),
  ...each('ownRouter', 'assess parameter/org/*/provider/* ssm:GetParameter'),
  [
    'ownWorkerJoins',
    'effect parameter/org/*/provider/* ssm:GetParameter',
    'resolve parameter/org/*/provider/* ssm:GetParameter',
  ],
  [
    'ownWorkerSays',
    'resolve parameter/org/*/provider/* ssm:GetParameter',
    'effect parameter/org/*/provider/* ssm:GetParameter',
  ],
  // What nothing else must move meanwhile.
  ...each('givesPlace', 'effect stepQueue sqs:SendMessage'),
  ...each('changesPolicy', 'effect table/index/byOwner dynamodb:Query'),
  ...each('sweepsThread', ...table('sweep', 'GetItem', 'UpdateItem'), 'sweep table/index/due dynamodb:Query'),
  ...each('sweepsThread', 'sweep assessQueue sqs:SendMessage'),
  ...each('sweepsSlots', 'sweep effectQueue sqs:SendMessage', ...table('sweep', 'PutItem')),
  ...each('sweepsDelivery', 'sweep inboxQueue sqs:SendMessage'),
  ...each('ticksPosting', ...table('tick', 'UpdateItem'), 'tick table/index/due dynamodb:Query'),
  ...each('ticksPosting', 'tick effectQueue sqs:SendMessage'),
  ...each('terminates', ...table('effect', 'DeleteItem')),
  ...each('says', ...table('resolve', 'DeleteItem', 'Query')),
  ...each('saysInTurn', ...table('resolve', 'ConditionCheckItem')),
  ...each('says', 'resolve effectQueue sqs:SendMessage', 'resolve stepQueue sqs:SendMessage'),
  ...each('knocks', ...table('ingest', 'UpdateItem')),
  ...each('checks', 'resolve parameter/org/*/source/* ssm:GetParameter'),
  ...each('losesMessages', 'assess assessQueue sqs:SendMessage'),
  ...each('garblesInbox', 'resolve bucket/parked/* s3:PutObject'),
  ...each('garblesAssess', 'assess bucket/parked/* s3:PutObject'),
  ...each('garblesEffects', 'effect bucket/parked/* s3:PutObject'),
  // From here on what was refused before comes back beside it.
  ...each('isIgnored', ...table('ingest', 'GetItem', 'PutItem'), 'ingest bucket/org/*/source/* s3:PutObject'),
  ...each('isIgnored', 'ingest inboxQueue sqs:SendMessage'),
  ...each('isIgnored', ...on('resolve', 'inboxQueue', ['sqs:ReceiveMessage', 'sqs:DeleteMessage'])),
  ['isIgnored', 'resolve inboxQueue sqs:ChangeMessageVisibility', 'resolve bucket/org/*/source/* s3:GetObject'],
  ...each('isIgnored', ...table('resolve', 'GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem')),
  ...each('isIgnored', 'resolve bucket/org/*/source/* s3:GetObject', 'resolve assessQueue sqs:SendMessage'),
  ...each('isIgnored', ...on('assess', 'assessQueue', ['sqs:ReceiveMessage', 'sqs:DeleteMessage'])),
  ...each('isIgnored', 'assess assessQueue sqs:ChangeMessageVisibility', 'assess table/index/byOwner dynamodb:Query'),
  ...each('isIgnored', ...table('assess', 'GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem')),
  ...each('isIgnored', ...table('assess', 'ConditionCheckItem')),
  ...each('opens', 'assess effectQueue sqs:SendMessage', 'assess stepQueue sqs:SendMessage'),
  ...each('talks', ...on('effect', 'effectQueue', ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:SendMessage'])),
  ['talks', 'effect effectQueue sqs:ChangeMessageVisibility', 'effect bus events:PutEvents'],
  ...each('talks', 'effect bus events:PutEvents'),
  ...each('talks', ...table('effect', 'GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem')),
  ...each('talks', ...table('effect', 'ConditionCheckItem')),
];

/** It loses what others still have to read. */
const LAST: Case = ['losesObjects', 'resolve bucket s3:ListBucket'];

const NAMES = ['ingest', 'resolve', 'assess', 'effect', 'tick', 'sweep'] as const;

test('every grant is taken away below, or it is said why not', () => {
  const told = [...[...CASES, LAST].map(([, grant]) => grant), ...NOT_TAKEN.flatMap(([, ...grants]) => grants)];
  const all = NAMES.flatMap(grantsOf);
  expect(told.filter((grant) => !grant.startsWith('step ')).toSorted()).toEqual(all.toSorted());
});

/** The clock of the cloud, or what was held up before, may do the work of a scene a moment earlier: then it is played again. */
const PLAYED = 3;

const tryWithout = async ([scene, grant, ...also]: Case): Promise<void> => {
  for (let played = 1; ; played++) {
    try {
      return await team.without(grant, await SCENES[scene](), { also });
    } catch (error) {
      if (played === PLAYED) throw error;
    }
  }
};

test.each(CASES.map((one) => ({ grant: one[1], one })))('without $grant', ({ one }) => tryWithout(one), 120_000);

test('with all grants back everything comes to its end', async () => {
  await team.policy({ maxWorkers: 16 });
  await settled();
}, 50_000);

test('whoever may not list the bucket is not told that an object is missing', () => tryWithout(LAST), 120_000);

test('who was refused has said so, and no request was allowed twice', async () => {
  const silent = () =>
    [...CASES, LAST].filter(([, grant]) => {
      const [name, , action] = grant.split(' ');
      const lines = team.lines(name as (typeof NAMES)[number]);
      return !lines.some((line) => line.includes(`not authorized to perform: ${action} `));
    });
  await eventually('the last line is there', () => silent().length === 0, 2).catch(() => undefined);
  expect(silent().map(([, grant]) => grant)).toEqual([]);
  expect([...team.redundant]).toEqual([]);
  const taken = [...CASES, LAST].flatMap(([, ...grants]) => grants.map((grant) => grant.replace(/ \S+ /, ' ')));
  const others = (await team.close()).filter((refused) => !taken.includes(refused as (typeof taken)[number]));
  expect(others, 'what the template itself refuses').toEqual([]);
});
