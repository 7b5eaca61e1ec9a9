import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { Secrets } from '../kernel/ports.ts';

/**
 * Everything of an endpoint that nobody may read back: signing secrets and the values of its custom headers. One parameter, so
 * that an attempt costs at most one read of the parameter store, which allows few.
 */
const documentSchema = z.strictObject({
  v: z.literal(1),
  /** The newest first. `until`: ms since the epoch; from then on it signs nothing any more. */
  secrets: z.array(z.strictObject({ secret: z.string(), until: z.number().optional() })).min(1),
  headers: z.record(z.string(), z.string()),
});
export type SecretDocument = Omit<z.output<typeof documentSchema>, 'v'>;

/** A parameter holds 4 KB; what secrets and punctuation leave of it. */
export const MOST_HEADER_BYTES = 3_000;

interface Owner {
  readonly orgId: string;
  readonly webhookId: string;
}

const nameOf = ({ orgId, webhookId }: Owner, ref: string): string => `org/${orgId}/webhook/${webhookId}/${ref}`;

/**
 * Stores a document under a name that nobody else has; the endpoint's row then says which one counts. So a document never
 * changes, a reader may remember it, and of two writers at once none can put its secret into the other's answer.
 * @returns what the row keeps
 */
export const putDocument = async (secrets: Secrets, owner: Owner, document: SecretDocument): Promise<string> => {
  const ref = randomBytes(9).toString('base64url');
  await secrets.put(nameOf(owner, ref), JSON.stringify({ v: 1, ...document }));
  return ref;
};

/** `undefined`: deleted, so a newer row names another one, or none does. @throws Error without the value */
export const getDocument = async (secrets: Secrets, owner: Owner, ref: string): Promise<SecretDocument | undefined> => {
  const text = await secrets.get(nameOf(owner, ref));
  if (text === undefined) return undefined;
  try {
    return documentSchema.parse(JSON.parse(text));
  } catch {
    // What the parser says is dropped: it may quote the secret.
    throw new Error(`The secrets of ${owner.webhookId} are not as this version writes them.`);
  }
};

/** A document that stays behind when this fails is read by nobody. */
export const deleteDocument = (secrets: Secrets, owner: Owner, ref: string): Promise<void> =>
  secrets.delete(nameOf(owner, ref));

/** The secrets that sign now. */
export const liveSecrets = ({ secrets }: SecretDocument, now: number): string[] =>
  secrets.filter(({ until }) => until === undefined || until > now).map(({ secret }) => secret);
