import { createHash } from 'node:crypto';
import { idempotentParameterMismatch } from '../errors.ts';
import { isRecord } from '../requests.ts';
import type { Sqlite } from '../store/sqlite.ts';

/** How long a ClientRequestToken is remembered, milliseconds. */
const TOKEN_LIFE = 10 * 60 * 1000;

/** What makes two requests the same: their JSON, whatever the order of members. */
export const digestOf = (value: unknown): string => createHash('sha256').update(canonical(value)).digest('base64');

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value ?? null);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`).join(',')}}`;
}

/**
 * Whether this very request was carried out under this token within ten minutes.
 * @throws IdempotentParameterMismatchException when the token was used for another one.
 */
export function isReplay(sqlite: Sqlite, token: string, digest: string, now: number): boolean {
  sqlite.run('DELETE FROM tokens WHERE used_at <= ?', now - TOKEN_LIFE);
  const row = sqlite.get('SELECT request FROM tokens WHERE token = ?', token);
  if (row === undefined) return false;
  if (row.request !== digest) throw idempotentParameterMismatch();
  return true;
}

/** Only a transaction that succeeded is remembered: a refused one may be tried again under its token. */
export function remember(sqlite: Sqlite, token: string, digest: string, now: number): void {
  sqlite.run('INSERT INTO tokens (token, request, used_at) VALUES (?, ?, ?)', token, digest, now);
}
