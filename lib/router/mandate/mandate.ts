import * as z from 'zod';

/** What a mandate may allow, each verb including those before it. */
export const VERBS = ['read', 'comment', 'branch', 'pr', 'review', 'merge-guarded'] as const;
export type Verb = (typeof VERBS)[number];

/** Whether a mandate up to `granted` covers `wanted`. */
export const covers = (granted: Verb, wanted: Verb): boolean => VERBS.indexOf(wanted) <= VERBS.indexOf(granted);

/** How far a ticket may go: the scope part of a mandate, as it is proposed, granted and compared. */
export const scopeSchema = z.object({
  verb: z.enum(VERBS),
  /** The provider's own id; missing: no repository at all. */
  repositoryId: z.string().optional(),
  /** Globs; missing: every path. */
  paths: z.array(z.string()).optional(),
  /** Missing: every label. */
  labels: z.array(z.string()).optional(),
});
export type MandateScope = z.infer<typeof scopeSchema>;

/** Stands on the ticket's row. It is made by an acceptance and only ever revoked: widening is another ticket. */
export const mandateSchema = scopeSchema.extend({
  id: z.string(),
  state: z.enum(['active', 'revoked']),
  /** Who or what gave it: `<source id>:<actor id>`, `rule:<rule id>`, or the API key of a person. */
  grantedBy: z.string(),
  policyVersion: z.int().min(0),
  /** Why it was revoked, for people. */
  revokedBy: z.string().optional(),
});
export type Mandate = z.infer<typeof mandateSchema>;
