/** What people do to endpoints: make, change, rotate the secret, delete. */
import { shapeOf } from '../agent/field-errors.ts';
import { AppError, badRequest, conflict, notFound } from '../kernel/errors.ts';
import type { Ids } from '../kernel/ids.ts';
import { keys } from '../kernel/keys.ts';
import type { Queue, Secrets } from '../kernel/ports.ts';
import { and, eq, type Item, missing, type Table, TransactionRefused, type Write } from '../kernel/table.ts';
import type { Alongside } from '../tenancy/alongside.ts';
import { getOrganisation, inTurn } from '../tenancy/organisation.ts';
import { makeRow, ROW_VERSION } from '../tenancy/row.ts';
import { type Headers, headerErrors } from './custom-headers.ts';
import { attentionOver, type Endpoint, type EventType, readEndpoint } from './endpoint.ts';
import { changeGate, gateItem, letGo, newGate, readGate } from './gate.ts';
import type { WebhookMessage } from './message.ts';
import { deleteDocument, getDocument, putDocument, type SecretDocument } from './secret-document.ts';
import { newSigningSecret } from './sign.ts';

export interface EndpointDeps {
  readonly table: Table;
  readonly ids: Ids;
  readonly secrets: Secrets;
  readonly webhooks: Queue<WebhookMessage>;
  /** Why an address may not be used, as a sentence; `undefined` when it may. */
  readonly judgeUrl: (url: string) => string | undefined;
}

export interface GivenEndpoint {
  readonly url: string;
  readonly events: readonly EventType[];
  readonly description?: string | undefined;
  readonly headers?: Headers | undefined;
}

/** An organisation's endpoints are all read for each of its events. */
const MOST_ENDPOINTS = 20;
/** So long the old secret signs beside the new one. */
const OVERLAP_MS = 86_400_000;

/** @throws AppError 404 */
export const getEndpoint = async (table: Table, orgId: string, webhookId: string): Promise<Endpoint> => {
  const item = await table.get(keys.webhook(orgId, webhookId), { consistent: true });
  if (item === undefined) throw notFound('webhook');
  return readEndpoint(item);
};

const USABLE_URL = 'an https URL on the public internet, without a user name or password';

const check = (deps: EndpointDeps, given: Optional<GivenEndpoint>): void => {
  const refused = given.url === undefined ? undefined : deps.judgeUrl(given.url);
  const errors = [
    ...(refused === undefined ? [] : [{ field: 'url', received: shapeOf(given.url), expected: USABLE_URL }]),
    ...headerErrors(given.headers ?? {}),
  ];
  const why = refused === undefined ? '' : ` ${refused}`;
  if (errors.length > 0) throw badRequest(`The webhook cannot be kept like this.${why}`, errors);
};

const rowOf = (endpoint: Endpoint): Item => makeRow(keys.webhook(endpoint.orgId, endpoint.id), endpoint);
const owner = ({ orgId, id }: Endpoint) => ({ orgId, webhookId: id });

/**
 * The secret is in this answer and nowhere else. It is stored before the row: a crash in between leaves a parameter that
 * nobody reads, never an endpoint without a secret.
 * @throws AppError 400
 */
export const createEndpoint = async (
  deps: EndpointDeps,
  orgId: string,
  given: GivenEndpoint,
  by: string,
  nowMs: number,
  alongside: Alongside<Endpoint>,
): Promise<Endpoint & { readonly secret: string }> => {
  check(deps, given);
  const first = await turnOf(deps.table, orgId);
  const id = deps.ids.next('whk', nowMs);
  const secret = newSigningSecret();
  const headers = given.headers ?? {};
  const secretRef = await putDocument(deps.secrets, { orgId, webhookId: id }, { secrets: [{ secret }], headers });
  const at = new Date(nowMs).toISOString();
  const endpoint: Endpoint = {
    id,
    orgId,
    url: given.url,
    events: [...new Set(given.events)],
    ...(given.description !== undefined && { description: given.description }),
    headerNames: Object.keys(headers),
    state: 'enabled',
    secretRef,
    createdAt: at,
    updatedAt: at,
    createdBy: by,
  };
  const writes = (turn: Turn): readonly Write[] => [
    { put: rowOf(endpoint), if: missing('pk') },
    { put: gateItem(newGate(orgId, id)), if: missing('pk') },
    { update: keys.organisation(orgId), ...turn },
    ...alongside(endpoint),
  ];
  try {
    await inTheirTurn(deps.table, orgId, first, writes);
  } catch (error) {
    // Only a refusal is certain to have written nothing; else the row may be there and needs its secret.
    if (error instanceof TransactionRefused || error instanceof AppError) {
      await deleteDocument(deps.secrets, owner(endpoint), secretRef);
    }
    throw error;
  }
  return { ...endpoint, secret };
};

type Turn = ReturnType<typeof inTurn>;

/** The organisation is read before its endpoints are counted. @throws AppError 400 when there is no room */
const turnOf = async (table: Table, orgId: string): Promise<Turn> => {
  const organisation = await getOrganisation(table, orgId);
  const others = await table.query({ ...keys.webhooks(orgId), consistent: true });
  if (others.items.length < MOST_ENDPOINTS) return inTurn(organisation, 'madeWebhooks');
  throw badRequest(`An organisation has at most ${MOST_ENDPOINTS} webhooks.`, [], 'too_many_webhooks');
};

/**
 * Those who make one at the same moment go one after the other, and each counts anew. Who loses so often that all places
 * could be taken meanwhile lost to people who also delete.
 */
const inTheirTurn = async (
  table: Table,
  orgId: string,
  first: Turn,
  writes: (turn: Turn) => readonly Write[],
): Promise<void> => {
  let turn = first;
  for (let attempt = 1; ; attempt++) {
    try {
      return await table.transact(writes(turn));
    } catch (error) {
      const lost = error instanceof TransactionRefused && error.refused.every((no, at) => no === (at === 2));
      if (!lost || attempt > MOST_ENDPOINTS) throw error;
    }
    turn = await turnOf(table, orgId);
  }
};

type Optional<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined };

export interface EndpointChange extends Optional<GivenEndpoint> {
  readonly state?: Endpoint['state'] | undefined;
}

const documentOf = async (deps: EndpointDeps, endpoint: Endpoint): Promise<SecretDocument> => {
  const document = await getDocument(deps.secrets, owner(endpoint), endpoint.secretRef);
  if (document === undefined) throw changed();
  return document;
};

const changed = () => conflict('changed_meanwhile', 'Somebody else changed the webhook at the same moment. Try again.');

/** Writes the row if it stands as it was read. The document that no longer counts goes last. */
const replace = async (deps: EndpointDeps, old: Endpoint, next: Endpoint, beside: readonly Write[]): Promise<void> => {
  const asSeen = and(
    eq('v', ROW_VERSION),
    eq('secretRef', old.secretRef),
    eq('updatedAt', old.updatedAt),
    eq('state', old.state),
  );
  try {
    await deps.table.transact([{ put: rowOf(next), if: asSeen }, ...beside]);
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error;
    if (next.secretRef !== old.secretRef) await deleteDocument(deps.secrets, owner(next), next.secretRef);
    if (error.refused[0] === true) throw changed();
    throw error;
  }
  if (next.secretRef !== old.secretRef) await deleteDocument(deps.secrets, owner(old), old.secretRef);
};

/** @throws AppError 400, 404, 409 `changed_meanwhile` */
export const patchEndpoint = async (
  deps: EndpointDeps,
  orgId: string,
  webhookId: string,
  change: EndpointChange,
  nowMs: number,
): Promise<Endpoint> => {
  check(deps, change);
  const old = await getEndpoint(deps.table, orgId, webhookId);
  demandHeadersForNewHost(old, change);
  const state = change.state ?? old.state;
  const { reason: _, disabledAt: __, ...kept } = old;
  const moved = state !== old.state;
  const next: Endpoint = {
    ...(moved ? kept : old),
    ...(change.url !== undefined && { url: change.url }),
    ...(change.events !== undefined && { events: [...new Set(change.events)] }),
    ...(change.description !== undefined && { description: change.description }),
    ...(change.headers !== undefined && {
      headerNames: Object.keys(change.headers),
      secretRef: await putDocument(deps.secrets, owner(old), {
        secrets: (await documentOf(deps, old)).secrets,
        headers: change.headers,
      }),
    }),
    ...(moved && state === 'disabled' && { reason: 'requested' as const, disabledAt: nowMs }),
    state,
    updatedAt: new Date(nowMs).toISOString(),
  };
  await replace(deps, old, next, moved ? attentionOver(old) : []);
  // Enabled, it begins afresh; disabled, what waits behind its gate is given up. Enabling once more does it once more.
  if (change.state !== undefined) await openUp(deps, orgId, webhookId, nowMs);
  return next;
};

/** What was given for one host goes to no other. */
const demandHeadersForNewHost = (old: Endpoint, change: EndpointChange): void => {
  if (change.url === undefined || change.headers !== undefined || old.headerNames.length === 0) return;
  if (new URL(old.url).origin === new URL(change.url).origin) return;
  const expected = 'the headers again, because url names another host; {} for none';
  throw badRequest('The headers are needed again.', [{ field: 'headers', received: 'nothing', expected }]);
};

const openUp = async (deps: EndpointDeps, orgId: string, webhookId: string, now: number): Promise<void> => {
  const item = await deps.table.get(keys.webhookGate(orgId, webhookId), { consistent: true });
  if (item === undefined) return;
  await changeGate(deps.table, readGate(item), (gate) => letGo(gate, now));
  await deps.webhooks.send({ orgId, webhookId }, { delaySeconds: 0, tenant: orgId });
};

/**
 * Makes a new secret; the old one signs beside it for a day, and one before that no more.
 * @throws AppError 404, 409 `changed_meanwhile`
 */
export const rotateSecret = async (
  deps: EndpointDeps,
  orgId: string,
  webhookId: string,
  nowMs: number,
  alongside: Alongside<Endpoint>,
): Promise<Endpoint & { readonly secret: string; readonly previousUntil: string }> => {
  const old = await getEndpoint(deps.table, orgId, webhookId);
  const { secrets, headers } = await documentOf(deps, old);
  const secret = newSigningSecret();
  const until = nowMs + OVERLAP_MS;
  const previous = secrets.slice(0, 1).map((each) => ({ secret: each.secret, until }));
  const secretRef = await putDocument(deps.secrets, owner(old), { secrets: [{ secret }, ...previous], headers });
  const next: Endpoint = { ...old, secretRef, updatedAt: new Date(nowMs).toISOString() };
  await replace(deps, old, next, alongside(next));
  return { ...next, secret, previousUntil: new Date(until).toISOString() };
};

/** @throws AppError 404 */
export const deleteEndpoint = async (deps: EndpointDeps, orgId: string, webhookId: string): Promise<void> => {
  const endpoint = await getEndpoint(deps.table, orgId, webhookId);
  // The secret goes first: when this stops half-way, the row is still there to be deleted again.
  await deleteDocument(deps.secrets, owner(endpoint), endpoint.secretRef);
  await deps.table.transact([
    { delete: keys.webhook(orgId, webhookId) },
    // Without its gate nothing is sent any more, whatever somebody has read before.
    { delete: keys.webhookGate(orgId, webhookId) },
    ...attentionOver(endpoint),
  ]);
};
