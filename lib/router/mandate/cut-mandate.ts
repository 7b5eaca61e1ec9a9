/** What a model proposes is cut to what was granted: no text can choose its own authority. Pure. */
import { globFault, globWithin } from './glob.ts';
import { type Grant, WITHOUT_GRANT } from './grants.ts';
import { type MandateScope, VERBS, type Verb } from './mandate.ts';

const lesser = (a: Verb, b: Verb): Verb => (VERBS.indexOf(a) <= VERBS.indexOf(b) ? a : b);

/** What a proposal that names no verb gets, however much is granted. */
const UNASKED: Verb = 'comment';

/**
 * The paths that both allow. Two lists of globs have no list that says exactly that; kept is each glob that lies wholly
 * inside one of the other side, which can only be less. `undefined`: every path; an empty list: none.
 */
const commonPaths = (
  proposed: readonly string[] | undefined,
  granted: readonly string[] | undefined,
): readonly string[] | undefined => {
  if (granted === undefined) return proposed && once(proposed.filter((glob) => globFault(glob) === undefined));
  if (proposed === undefined) return once(granted);
  const inside = (globs: readonly string[], others: readonly string[]): readonly string[] =>
    globs.filter((glob) => others.some((other) => globWithin(glob, other)));
  return once([...inside(proposed, granted), ...inside(granted, proposed)]);
};

const once = <T>(list: readonly T[]): readonly T[] => [...new Set(list)];

const commonLabels = (
  proposed: readonly string[] | undefined,
  granted: readonly string[] | undefined,
): readonly string[] | undefined => {
  if (granted === undefined || proposed === undefined) return granted ?? proposed;
  return proposed.filter((label) => granted.includes(label));
};

/** A repository is the one of the asking Thread, or another only where the grant names it. */
const repositoryOf = (
  proposed: string | undefined,
  grant: Grant | undefined,
  asked: string | undefined,
): string | undefined => {
  const wanted = proposed ?? asked;
  const granted = grant?.repositoryIds ?? (asked === undefined ? [] : [asked]);
  return wanted !== undefined && granted.includes(wanted) ? wanted : undefined;
};

/**
 * The mandate of a ticket: proposal ∩ grant, never wider than either.
 *
 * - Verb: the lesser of both. Without a grant `comment`; without a proposal `comment` too.
 * - Repository: a grant that lists none holds for the asking Thread's own repository alone, so that words in one
 *   repository cannot reach into another. Without a repository nothing beyond `comment` is left.
 * - Paths and labels: what both allow; an empty list allows none.
 * @param asked the repository of the asking Thread
 */
export const cutMandate = (
  proposal: MandateScope | undefined,
  grant: Grant | undefined,
  asked: { readonly repositoryId?: string | undefined },
): MandateScope => {
  const repositoryId = repositoryOf(proposal?.repositoryId, grant, asked.repositoryId);
  const granted = lesser(proposal?.verb ?? UNASKED, grant?.maxVerb ?? WITHOUT_GRANT);
  const paths = commonPaths(proposal?.paths, grant?.paths);
  const labels = commonLabels(proposal?.labels, grant?.labels);
  return {
    verb: repositoryId === undefined ? lesser(granted, WITHOUT_GRANT) : granted,
    ...(repositoryId === undefined ? {} : { repositoryId }),
    ...(paths === undefined ? {} : { paths: [...paths] }),
    ...(labels === undefined ? {} : { labels: [...labels] }),
  };
};
