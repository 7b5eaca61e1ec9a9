import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { Secrets } from '../../kernel/ports.ts';
import { type SourceSecrets, sourceSecretsSchema } from './source.ts';

const documentSchema = sourceSecretsSchema.extend({ v: z.literal(1) });

/** Bytes of a parameter; a document that is longer cannot be kept. */
export const MOST_SECRET_BYTES = 4_096;

interface Owner {
  readonly orgId: string;
  readonly id: string;
}

const nameOf = ({ orgId, id }: Owner, ref: string): string => `org/${orgId}/source/${id}/${ref}`;

const textOf = (secrets: SourceSecrets): string => JSON.stringify({ v: 1, ...secrets });

/** Length of the document as it is kept, bytes. */
export const secretBytes = (secrets: SourceSecrets): number => Buffer.byteLength(textOf(secrets));

/**
 * Stores a document under a name that nobody else has; the source's row says which one counts. So a document never changes
 * and a reader may remember it.
 * @returns what the row keeps
 */
export const putSourceSecrets = async (secrets: Secrets, owner: Owner, document: SourceSecrets): Promise<string> => {
  const ref = randomBytes(9).toString('base64url');
  await secrets.put(nameOf(owner, ref), textOf(document));
  return ref;
};

/**
 * @returns `undefined` when it was deleted: a newer row names another one, or the source is gone
 * @throws Error without the value
 */
export const getSourceSecrets = async (
  secrets: Secrets,
  source: Owner & { readonly secretRef: string },
): Promise<SourceSecrets | undefined> => {
  const text = await secrets.get(nameOf(source, source.secretRef));
  if (text === undefined) return undefined;
  try {
    const { v: _, ...document } = documentSchema.parse(JSON.parse(text));
    return document;
  } catch {
    // What the parser says is dropped: it may quote the secret.
    throw new Error(`The secrets of ${source.id} are not as this version writes them.`);
  }
};

/** A document that stays behind when this fails is read by nobody. */
export const deleteSourceSecrets = (secrets: Secrets, owner: Owner, ref: string): Promise<void> =>
  secrets.delete(nameOf(owner, ref));
