import { createHash } from 'node:crypto';
import * as z from 'zod';
import { AppError, badRequest, conflict } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import { le, missing, or, type Table, type Write } from '../kernel/table.ts';
import { makeRow, readRow } from '../tenancy/row.ts';

const LIFE_SECONDS = 24 * 60 * 60;
const KEY = /^[\x20-\x7e]{1,255}$/;

const recordSchema = z.object({
  bodyHash: z.string(),
  status: z.number(),
  /** The first answer as it was sent; missing when it held a secret. */
  answer: z.string().optional(),
  /** Id of what was created, where the answer itself is not kept. */
  id: z.string().optional(),
  /** Seconds since the epoch. DynamoDB deletes late, so every read compares. */
  ttl: z.number(),
});

/** One use of `Idempotency-Key` on one route of one organisation. */
export interface IdempotentRequest {
  readonly orgId: string;
  readonly route: string;
  readonly key: string;
  readonly bodyHash: string;
}

/** The request's use of a key, or `undefined` when it sent none. @throws AppError 400 */
export const idempotentRequest = (
  orgId: string,
  route: string,
  key: string | undefined,
  body: unknown,
): IdempotentRequest | undefined => {
  if (key === undefined) return undefined;
  if (!KEY.test(key)) {
    const expected = '1 to 255 printable ASCII characters';
    throw badRequest('The Idempotency-Key cannot be used.', [
      { field: 'Idempotency-Key', received: `string of ${key.length} characters`, expected },
    ]);
  }
  return { orgId, route, key, bodyHash: sha256(canonical(body)) };
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Same members in another order are the same body. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

const keyOf = ({ orgId, route, key }: IdempotentRequest) => keys.idempotency(orgId, sha256(`${route}\n${key}`));

/** Remembers the answer, in the transaction that creates what it tells of. Refused when the key was used meanwhile. */
export const recordOf = (
  request: IdempotentRequest,
  answer: {
    readonly status: number;
    readonly text: string;
    readonly secret: boolean;
    readonly id?: string | undefined;
  },
  nowMs: number,
): Write => {
  const now = Math.floor(nowMs / 1_000);
  const kept = answer.secret ? { id: answer.id } : { answer: answer.text };
  const ttl = now + LIFE_SECONDS;
  return {
    put: makeRow(keyOf(request), { bodyHash: request.bodyHash, status: answer.status, ttl, ...kept }),
    if: or(missing('pk'), le('ttl', now)),
  };
};

/**
 * The first answer to this key, or `undefined` when the key is new.
 * @throws AppError 422 `idempotency_mismatch` for another body, 409 `secret_already_shown`
 */
export const firstAnswer = async (
  table: Table,
  request: IdempotentRequest,
  nowMs: number,
): Promise<{ readonly status: number; readonly text: string } | undefined> => {
  const item = await table.get(keyOf(request), { consistent: true });
  if (item === undefined) return undefined;
  const record = readRow(recordSchema, item);
  if (record.ttl <= Math.floor(nowMs / 1_000)) return undefined;
  if (record.bodyHash !== request.bodyHash) {
    const message = 'This Idempotency-Key was used with another body: use a new key for a new request.';
    throw new AppError(422, 'idempotency_mismatch', message);
  }
  if (record.answer === undefined) {
    const message =
      'This was done already, and its secret is shown only once. Delete it and make a new one if it is lost.';
    throw conflict('secret_already_shown', message, record.id === undefined ? {} : { id: record.id });
  }
  return { status: record.status, text: record.answer };
};
