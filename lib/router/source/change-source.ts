/** What people do to sources: make, change, pause, delete. */
import { badRequest, conflict } from '../../kernel/errors.ts';
import type { Ids } from '../../kernel/ids.ts';
import { keys } from '../../kernel/keys.ts';
import type { Secrets } from '../../kernel/ports.ts';
import { exists, missing, type Table, TransactionRefused, type Write } from '../../kernel/table.ts';
import type { Alongside } from '../../tenancy/alongside.ts';
import { getSource, lookupItem } from './find.ts';
import {
  describedAfter,
  type GivenSource,
  needsCredentialsAgain,
  type SourceChange,
  secretsAfter,
  sourceErrors,
} from './given.ts';
import { deleteSourceSecrets, getSourceSecrets, putSourceSecrets } from './secrets.ts';
import type { Source, SourceSecrets } from './source.ts';
import { asSeen, attention, later, sourceItem } from './told.ts';

export interface SourceDeps {
  readonly table: Table;
  readonly ids: Ids;
  readonly secrets: Secrets;
  /** Why an address may not be used, as a sentence; `undefined` when it may. */
  readonly judgeUrl: (url: string) => string | undefined;
}

/** Each is read by the status checks. */
const MOST_SOURCES = 50;

const refuse = (errors: ReturnType<typeof sourceErrors>): void => {
  if (errors.length > 0) throw badRequest('The source cannot be kept like this.', errors);
};

/**
 * The secrets are stored before the row: a crash in between leaves a parameter that nobody reads.
 * @throws AppError 400 `bad_request`, `too_many_sources`
 */
export const createSource = async (
  deps: SourceDeps,
  orgId: string,
  given: GivenSource,
  by: string,
  nowMs: number,
  alongside: Alongside<Source>,
): Promise<Source> => {
  const secrets = secretsAfter({ signing: [] }, given);
  const described = describedAfter({ kind: given.kind, signsInBy: 'none' }, given, secrets);
  refuse(sourceErrors(described, secrets, given, deps.judgeUrl));
  const others = await deps.table.query({ ...keys.sources(orgId), consistent: true });
  if (others.items.length >= MOST_SOURCES) {
    throw badRequest(`An organisation has at most ${MOST_SOURCES} sources.`, [], 'too_many_sources');
  }
  const id = deps.ids.next('src', nowMs);
  const at = new Date(nowMs).toISOString();
  const secretRef = await putSourceSecrets(deps.secrets, { orgId, id }, secrets);
  const source: Source = {
    ...described,
    id,
    orgId,
    name: given.name,
    state: 'active',
    secretRef,
    createdAt: at,
    updatedAt: at,
    createdBy: by,
  };
  try {
    await deps.table.transact([
      { put: sourceItem(source), if: missing('pk') },
      { put: lookupItem(source), if: missing('pk') },
      { check: keys.organisation(orgId), if: exists('pk') },
      ...alongside(source),
    ]);
  } catch (error) {
    // Only a refusal is certain to have written nothing; else the row may be there and needs its secrets.
    if (error instanceof TransactionRefused) await deleteSourceSecrets(deps.secrets, source, secretRef);
    throw error;
  }
  return source;
};

export interface SourcePatch extends SourceChange {
  /** `active` also takes up a source that its provider had stopped. */
  readonly state?: 'active' | 'paused' | undefined;
}

const changed = () => conflict('changed_meanwhile', 'Somebody else changed the source at the same moment. Try again.');

/** @throws AppError 400, 404, 409 `changed_meanwhile` */
export const patchSource = async (
  deps: SourceDeps,
  orgId: string,
  sourceId: string,
  change: SourcePatch,
  nowMs: number,
): Promise<Source> => {
  const old = await getSource(deps.table, orgId, sourceId);
  if (needsCredentialsAgain(old, change)) {
    const expected = 'privateKey or token again, because apiBaseUrl names another host';
    throw badRequest('The credentials are needed again.', [
      { field: 'apiBaseUrl', received: 'another host', expected },
    ]);
  }
  const before = await getSourceSecrets(deps.secrets, old);
  if (before === undefined) throw changed();
  const secrets = secretsAfter(before, change);
  const described = describedAfter(old, change, secrets);
  refuse(sourceErrors(described, secrets, change, deps.judgeUrl));
  const { reason, stoppedAt, ...kept } = old;
  const state = change.state ?? old.state;
  const next: Source = {
    ...kept,
    ...described,
    ...(change.name !== undefined && { name: change.name }),
    ...(state === old.state && reason !== undefined && { reason }),
    ...(state === old.state && stoppedAt !== undefined && { stoppedAt }),
    state,
    secretRef: sameSecrets(before, secrets) ? old.secretRef : await putSourceSecrets(deps.secrets, old, secrets),
    updatedAt: later(old.updatedAt, nowMs),
  };
  await replace(deps, old, next, attention(old, next));
  return next;
};

const sameSecrets = (a: SourceSecrets, b: SourceSecrets): boolean =>
  a.privateKey === b.privateKey && a.token === b.token && JSON.stringify(a.signing) === JSON.stringify(b.signing);

/** Writes the row if it stands as it was read. The document that no longer counts goes last. */
const replace = async (deps: SourceDeps, old: Source, next: Source, beside: readonly Write[]): Promise<void> => {
  const fresh = next.secretRef !== old.secretRef;
  try {
    await deps.table.transact([{ put: sourceItem(next), if: asSeen(old) }, ...beside]);
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error;
    if (fresh) await deleteSourceSecrets(deps.secrets, next, next.secretRef);
    throw changed();
  }
  if (fresh) await deleteSourceSecrets(deps.secrets, old, old.secretRef);
};

/**
 * Nothing comes in through it any more and nothing goes out. Its Threads and Triggers stay, as the record of what was.
 * @throws AppError 404
 */
export const deleteSource = async (deps: SourceDeps, orgId: string, sourceId: string): Promise<void> => {
  const source = await getSource(deps.table, orgId, sourceId);
  // The secrets go first: when this stops half-way, the row is still there to be deleted again.
  await deleteSourceSecrets(deps.secrets, source, source.secretRef);
  await deps.table.transact([
    { delete: keys.source(orgId, sourceId) },
    { delete: keys.sourceLookup(sourceId) },
    ...attention(source, undefined),
  ]);
};
