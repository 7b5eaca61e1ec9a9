/** A Router team on the local cloud: a GitHub of this process whose events come in, and what the API shows of it all. */
import { setTimeout as sleep } from 'node:timers/promises';
import { FUNCTIONS } from '../../../lib/names.ts';
import {
  APP_ID,
  type GithubServer,
  INSTALLATION_ID,
  newRepository,
  SELF,
  startGithub,
} from '../../support/github-server/server.ts';
import type { Comment, Issue, Person, Repository } from '../../support/github-server/state.ts';
import { type Api, eventually } from './api.ts';
import type { Cloud, Environment } from './cloud.ts';
import { commentCreated, deliver, type Hook, issueOpened } from './github-hooks.ts';
import { startWorld, type World } from './world.ts';

export const HANDLE = '@baton-test';
export const ALICE: Person = { id: 700_000_001, login: 'alice' };
export const STRANGER: Person = { id: 700_000_009, login: 'mallory' };
export const ROBOT: Person = { id: 700_000_010, login: 'ci[bot]', type: 'Bot' };
const SECRET = 'a-secret-of-the-webhook';

/** What the Router's lists hold, as far as the tests look at it. */
export interface Shown {
  readonly id: string;
  readonly threadId: string;
  readonly threadIds: readonly string[];
  readonly ticketIds: readonly string[];
  readonly executionIds: readonly string[];
  readonly kind: string;
  readonly class: string;
  readonly state: string;
  readonly phase: string;
  readonly reports: readonly { readonly state: string; readonly text: string }[];
  readonly key: string;
  readonly text: string;
  readonly title: string;
  readonly verdict: string;
  readonly mandate: { readonly verb: string; readonly state: string; readonly repositoryId?: string };
  readonly reason?: { readonly code: string; readonly message: string };
  readonly gate: { readonly class: string };
  readonly decision?: { readonly decision: string; readonly ticketId?: string; readonly wouldAccept?: boolean };
  readonly subject: { readonly type: string; readonly id: string };
  readonly question: string;
  readonly actor: { readonly id: string };
  readonly deliveryId: string;
}

export type Team = World & TeamAt;

export interface TeamAt {
  readonly github: GithubServer;
  readonly repository: Repository;
  readonly sourceId: string;
  /** Puts the policy: this repository's people as below, with what is given. */
  policy(given?: object): Promise<void>;
  /** An issue of GitHub, told by its hook. */
  opens(number: number, by: Person, title: string, body: string): Promise<Issue>;
  says(issue: Issue, by: Person, body: string): Promise<Comment>;
  hook(hook: Hook): Promise<void>;
  list(path: string): Promise<readonly Shown[]>;
  ticket(id: string): Promise<Shown>;
  /** The Trigger that a comment or an issue has become. */
  triggerOf(text: string): Promise<Shown>;
  /** The only ticket of a Thread, as soon as it stands in a phase. */
  ticketIn(phase: string, threadId?: string, seconds?: number): Promise<Shown>;
  /** What the functions have said of errors, one line each: for whoever looks at a test that failed. */
  trouble(): string;
  /** Comments of ours in a discussion, markers and all. */
  ours(issue: Issue): readonly Comment[];
}

/** A GitHub with one repository that has no issues yet. */
export const startRepository = async (): Promise<{
  readonly github: GithubServer;
  readonly repository: Repository;
}> => {
  const github = await startGithub();
  const repository = newRepository(900_000_001, 'example-org/widget', {
    'README.md': '# Widget\n',
    'src/fonts.css': 'body { font-size: 9px; }\n',
  });
  github.repositories.push(repository);
  return { github, repository };
};

/** As long as a killed cloud takes to be back, ms: callers and GitHub ask again. */
const PATIENCE_MS = 30_000;

const persistently = async <T>(ask: () => Promise<T>): Promise<T> => {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > end) throw error;
      await sleep(100);
    }
  }
};

export const startTeam = async (environment: Environment = {}): Promise<Team> => {
  const place = await startRepository();
  const { github } = place;
  let world: World;
  try {
    world = await startWorld({ EGRESS_ALLOW: github.hostAndPort, ...environment });
  } catch (error) {
    await github.close();
    throw error;
  }
  return {
    ...world,
    ...(await makeTeam(world.cloud, place)),
    async close() {
      await world.close();
      await github.close();
    },
  };
};

/** A team at a repository, on a local cloud that runs. */
export const makeTeam = async (
  cloud: Api & Pick<Cloud, 'log'>,
  { github, repository }: Awaited<ReturnType<typeof startRepository>>,
): Promise<TeamAt> => {
  const source = await cloud.must('POST', '/v1/sources', {
    kind: 'github',
    name: 'widget',
    webhookSecrets: [SECRET],
    appId: APP_ID,
    privateKey: github.privateKey,
    installationId: String(INSTALLATION_ID),
    self: { id: String(SELF.id), login: SELF.login },
    repositories: [{ id: String(repository.id), fullName: repository.fullName }],
    apiBaseUrl: github.url,
  });
  const sourceId = source.id;

  const list: Team['list'] = async (path) =>
    (await persistently(() => cloud.must('GET', path))).items as unknown as readonly Shown[];
  const ticket: Team['ticket'] = async (id) =>
    (await persistently(() => cloud.must('GET', `/v1/tickets/${id}`))) as unknown as Shown;
  const hook: Team['hook'] = (sent) =>
    persistently(async () => {
      const answer = await deliver(`${cloud.url()}/ingest/${sourceId}`, SECRET, sent);
      if (answer.status !== 200) throw new Error(`Ingest answered ${answer.status} to ${sent.event}.`);
    });

  return {
    github,
    repository,
    sourceId,
    async policy(given = {}) {
      await cloud.must('PUT', '/v1/policy', {
        mode: 'auto',
        allow: [{ sourceId, actorId: String(ALICE.id) }],
        admission: [
          { sourceId, scope: 'issues', ceiling: 'explicit' },
          { sourceId, scope: 'issue_comment', ceiling: 'explicit' },
        ],
        grants: [{ sourceId, scope: '*', repositoryIds: [String(repository.id)], maxVerb: 'comment' }],
        assessment: { model: 'router' },
        worker: { model: 'worker' },
        ...given,
      });
    },
    async opens(number, user, title, body) {
      const issue = github.issue(repository, { number, title, body, user });
      await hook(issueOpened(repository, issue, INSTALLATION_ID));
      return issue;
    },
    async says(issue, by, body) {
      const comment = github.comment(issue, by, body);
      const association = by.id === ALICE.id ? 'MEMBER' : 'NONE';
      await hook(commentCreated(repository, issue, comment, INSTALLATION_ID, association));
      return comment;
    },
    hook,
    list,
    ticket,
    async triggerOf(text) {
      let found: Shown | undefined;
      await eventually(`a trigger holds ${JSON.stringify(text)}`, async () => {
        found = (await list('/v1/triggers?limit=100')).find((one) => one.text.includes(text));
        return found !== undefined;
      });
      return found as Shown;
    },
    async ticketIn(phase, threadId, seconds = 30) {
      let found: readonly Shown[] = [];
      try {
        await eventually(
          `one ticket is ${phase}`,
          async () => {
            found = await list(`/v1/tickets?limit=100${threadId === undefined ? '' : `&threadId=${threadId}`}`);
            return found.length === 1 && found[0]?.phase === phase;
          },
          seconds,
        );
      } catch (error) {
        throw new Error(`${String(error)}; there is ${JSON.stringify(found)}`);
      }
      return ticket(found[0]?.id as string);
    },
    trouble: () =>
      FUNCTIONS.flatMap((name) =>
        cloud
          .log(name)
          .filter(({ level }) => level === 'ERROR' || level === 'WARN')
          .map(({ timestamp, message, error, why }) => {
            const told = (error as { readonly message?: string } | undefined)?.message ?? error ?? why ?? '';
            return `${timestamp} ${name}: ${message} ${told}`;
          }),
      )
        .toSorted()
        .slice(-60)
        .join('\n'),
    ours: (issue) => issue.comments.filter(({ user }) => user.id === SELF.id),
  };
};
