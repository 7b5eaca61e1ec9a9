/** Who did what, when, to what: one row for each request that may change something. */
import * as z from 'zod';
import { type Ids, makeIds } from '../kernel/ids.ts';
import { keys } from '../kernel/keys.ts';
import type { Log } from '../kernel/ports.ts';
import { eq, type Item, set, type Table } from '../kernel/table.ts';
import { TABLE } from '../names.ts';
import { type Listed, listRows, type PageRequest } from './list-rows.ts';
import { makeRow, readRow } from './row.ts';

/**
 * `asked`: about to be done, or its end is not known (the process died, or the row could not be written after it).
 * `refused`: nothing was changed. `failed`: our own fault; part of it may have been done.
 */
export const AUDIT_STATES = ['asked', 'done', 'refused', 'failed'] as const;

const subjectSchema = z.object({ type: z.string(), id: z.string() });

const rowSchema = z.object({
  auditId: z.string(),
  /** Id of the key. */
  actor: z.string(),
  /** `operationId` of the route. */
  action: z.string(),
  subject: subjectSchema,
  state: z.enum(AUDIT_STATES),
  /** HTTP status of the answer. */
  status: z.number().optional(),
  /** Of the problem, where it was refused. */
  code: z.string().optional(),
  at: z.number(),
  /** What the path named, by parameter; names of the body's members, and values of those that are no secrets. */
  details: z.record(z.string(), z.json()),
  [TABLE.ttl]: z.number(),
});
export type AuditEntry = z.output<typeof rowSchema>;
export type AuditSubject = z.output<typeof subjectSchema>;

const readEntry = (item: Item): AuditEntry => readRow(rowSchema, item);

/** Days that a row is kept, unless the stage's configuration says otherwise. */
export const AUDIT_DAYS = 400;

export interface Asked extends Pick<AuditEntry, 'actor' | 'action' | 'subject' | 'details'> {
  readonly orgId: string;
  readonly days: number;
}

/** Written before anything is done: without its row, no request changes anything. @returns the row's id */
export const auditAsked = async (
  { table, ids }: { readonly table: Table; readonly ids: Ids },
  { orgId, days, actor, action, subject, details }: Asked,
  now: number,
): Promise<string> => {
  const auditId = ids.next('aud', now);
  const ttl = Math.floor(now / 1000) + days * 86_400;
  const row = { auditId, actor, action, subject, details, state: 'asked', at: now, [TABLE.ttl]: ttl };
  await table.put(makeRow(keys.audit(orgId, auditId), row));
  return auditId;
};

export interface Settled extends Pick<AuditEntry, 'status' | 'code'> {
  readonly state: Exclude<AuditEntry['state'], 'asked'>;
  /** What was made, where that was known only afterwards. */
  readonly subject?: AuditSubject | undefined;
}

/** What became of it. It never fails: the request has been carried out, and a row that stays `asked` says just that. */
export const auditSettled = async (
  { table, log }: { readonly table: Table; readonly log: Log },
  orgId: string,
  auditId: string,
  { state, status, code, subject }: Settled,
): Promise<void> => {
  const changes = [
    set('state', state),
    ...(status === undefined ? [] : [set('status', status)]),
    ...(code === undefined ? [] : [set('code', code)]),
    ...(subject === undefined ? [] : [set('subject', subject)]),
  ];
  try {
    await table.update(keys.audit(orgId, auditId), changes, eq('state', 'asked'));
  } catch (error) {
    log.error('What became of a request could not be noted in the audit.', { auditId, state, error });
  }
};

export interface AuditFilter {
  readonly actor?: string | undefined;
  /** Id of what was made or changed, or of anything that the path named. */
  readonly subject?: string | undefined;
  /** Milliseconds since the epoch, both inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** The first and the last id that a row of one moment can have. */
const firstIdAt = (ms: number): string => makeIds(() => new Uint8Array(10)).next('aud', ms);
const lastIdAt = (ms: number): string => makeIds(() => new Uint8Array(10).fill(255)).next('aud', ms);

const isAbout = ({ subject, details }: AuditEntry, id: string): boolean =>
  subject.id === id || Object.values(details.params ?? {}).includes(id);

/** Newest first. */
export const listAudit = (
  { table, log }: { readonly table: Table; readonly log: Log },
  orgId: string,
  { actor, subject, from, to }: AuditFilter,
  page: PageRequest,
): Promise<Listed<AuditEntry>> => {
  const read = (item: Item): AuditEntry | undefined => {
    const entry = readEntry(item);
    const fits = (actor === undefined || entry.actor === actor) && (subject === undefined || isAbout(entry, subject));
    return fits ? entry : undefined;
  };
  const start = page.start ?? (to === undefined ? undefined : lastIdAt(to));
  const lowest = from === undefined ? undefined : firstIdAt(from);
  return listRows({ table, log, ...keys.audits(orgId), lowest, read }, { ...page, start });
};
