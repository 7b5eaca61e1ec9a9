import type { Channel, RawDelivery, Sight } from '../../router/channel.ts';
import { namesHandle } from '../../router/gate/mentions.ts';
import type { Source } from '../../router/source/source.ts';
import { verifyHmac } from '../hmac.ts';
import { jsonOf } from '../json.ts';
import { checkRun, checkSuite, status, workflowRun } from './checks.ts';
import { issueComment } from './comments.ts';
import type { EventReader } from './event.ts';
import { installation, installationRepositories, repositoryEvent } from './installations.ts';
import { issues, ourHandle } from './issues.ts';
import { type Envelope, envelope } from './payload.ts';
import { pullRequest } from './pulls.ts';
import { pullRequestReview, pullRequestReviewComment } from './reviews.ts';

const SIGNATURE = 'x-hub-signature-256';
const EVENT = 'x-github-event';
const DELIVERY = 'x-github-delivery';
const CONTENT_TYPE = 'content-type';

const READERS: ReadonlyMap<string, EventReader> = new Map([
  ['issues', issues],
  ['issue_comment', issueComment],
  ['pull_request', pullRequest],
  ['pull_request_review', pullRequestReview],
  ['pull_request_review_comment', pullRequestReviewComment],
  ['check_run', checkRun],
  ['check_suite', checkSuite],
  ['workflow_run', workflowRun],
  ['status', status],
  ['installation', installation],
  ['installation_repositories', installationRepositories],
  ['repository', repositoryEvent],
]);

/** Hooks send JSON, or the same as a field of a form. */
const payloadOf = ({ headers, body }: RawDelivery): unknown => {
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers[CONTENT_TYPE] ?? '')) return jsonOf(body);
  const field = new URLSearchParams(new TextDecoder().decode(body)).get('payload');
  return field === null ? undefined : jsonOf(new TextEncoder().encode(field));
};

export const githubChannel: Channel = {
  kind: 'github',
  keeps: [EVENT, CONTENT_TYPE],
  verify: (raw, { signing }) => verifyHmac({ name: SIGNATURE, value: raw.headers[SIGNATURE] }, raw.body, signing),
  look(raw, source) {
    const event = raw.headers[EVENT];
    const providerId = raw.headers[DELIVERY];
    if (event === undefined || providerId === undefined) {
      return { see: 'unreadable', message: `The headers ${EVENT} and ${DELIVERY} are needed.` };
    }
    const payload = payloadOf(raw);
    const told = envelope.safeParse(payload);
    if (!told.success) return { see: 'unreadable', message: 'The body is no JSON object of an event.' };
    const { action } = told.data;
    const seen = { providerId, event, ...(action !== undefined && { action }) };
    const reader = READERS.get(event);
    const dropped = event === 'ping' ? PING : outside(told.data, source, event);
    if (dropped !== undefined) return { see: 'drop', ...seen, ...dropped };
    if (reader === undefined) return { see: 'drop', ...seen, ...UNREAD };
    if (!reader.actions.includes(action ?? '')) return { see: 'drop', ...seen, ...NO_CONCERN };
    if (!reader.fits(payload)) return { see: 'unreadable', message: `The body is not what ${event} promises.` };
    return judged(reader, payload, source, seen);
  },
  async resolve(raw, source, received, ask) {
    const reader = READERS.get(raw.headers[EVENT] ?? '');
    if (reader === undefined) return { resolve: 'drop', ...UNREAD };
    return reader.resolve(payloadOf(raw), { source, received, ask });
  },
  names: (text, source) => namesHandle(text, ourHandle(source)),
};

const judged = (
  reader: EventReader,
  payload: unknown,
  source: Source,
  seen: { readonly providerId: string; readonly event: string; readonly action?: string },
): Sight => {
  const own = reader.drop(payload, source);
  if (own !== undefined) return { see: 'drop', ...seen, ...own };
  const same = reader.same(payload);
  return { see: 'keep', ...seen, ...(same !== undefined && { same }) };
};

const PING = { code: 'ping', message: 'GitHub shows that it reaches us.' };
const UNREAD = { code: 'event_not_read', message: 'Events of this kind are not read.' };
const NO_CONCERN = { code: 'action_not_read', message: 'The event is read, but not for this action.' };

/** Why an event lies outside of what the source is for. */
const outside = ({ installation: at, repository }: Envelope, source: Source, event: string) => {
  const { installationId, repositories, signsInBy } = source;
  if (event === 'installation' && signsInBy !== 'app') {
    return { code: 'not_an_app', message: 'The source is no installation of an app.' };
  }
  if (installationId !== undefined && at && String(at.id) !== installationId) {
    return { code: 'other_installation', message: 'It is of another installation of the app.' };
  }
  if (repositories !== undefined && repository && !repositories.some(({ id }) => id === String(repository.id))) {
    return { code: 'other_repository', message: 'The repository is not on the list of the source.' };
  }
  return undefined;
};
