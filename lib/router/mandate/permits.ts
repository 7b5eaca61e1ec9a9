/** The comparison of an effect with a mandate: when it is queued, and again when it is sent (I8, I9). Pure. */
import { globMatches } from './glob.ts';
import { covers, type Mandate, type MandateScope, type Verb } from './mandate.ts';

export interface Wanted {
  readonly verb: Verb;
  /** Of what is touched; none for words in a Thread, whose place is the ticket's and not the mandate's business. */
  readonly repositoryId?: string | undefined;
  /** Files that are changed. */
  readonly paths?: readonly string[] | undefined;
  /** Labels that are set or taken away. */
  readonly labels?: readonly string[] | undefined;
}

/** Whether a scope allows a path; `paths` missing allows every one, an empty list none. */
export const allowsPath = ({ paths }: Pick<MandateScope, 'paths'>, path: string): boolean =>
  (paths ?? ['**']).some((glob) => globMatches(glob, path));

/** Letter by letter. */
export const allowsLabel = ({ labels }: Pick<MandateScope, 'labels'>, label: string): boolean =>
  labels === undefined || labels.includes(label);

/** What the mandate does not allow of it, in words; `undefined` when it allows all of it. */
export const refusal = (mandate: Pick<Mandate, 'state'> & MandateScope, wanted: Wanted): string | undefined => {
  if (mandate.state !== 'active') return 'The mandate is revoked.';
  if (!covers(mandate.verb, wanted.verb)) return `The mandate goes up to ${mandate.verb}, not to ${wanted.verb}.`;
  if (wanted.repositoryId !== undefined && wanted.repositoryId !== mandate.repositoryId) {
    return `The mandate is for ${mandate.repositoryId === undefined ? 'no repository' : 'another repository'}.`;
  }
  const path = wanted.paths?.find((one) => !allowsPath(mandate, one));
  if (path !== undefined) return `The mandate does not allow the path ${JSON.stringify(path)}.`;
  const label = wanted.labels?.find((one) => !allowsLabel(mandate, one));
  if (label !== undefined) return `The mandate does not allow the label ${JSON.stringify(label)}.`;
  return undefined;
};
