import * as z from 'zod';
import { VERBS } from '../mandate/mandate.ts';

export const CEILINGS = ['explicit', 'inferred', 'ignore'] as const;
export type Ceiling = (typeof CEILINGS)[number];

export const MODES = ['off', 'observe', 'auto'] as const;

const id = z.string().min(1).max(200);
const text = z.string().min(1).max(4_000);
const globs = z.array(z.string().min(1).max(300)).max(50);

/** What a team has written down about whom its Router listens to and what it may do (contract, "The Router team"). */
export const policySchema = z.strictObject({
  mode: z.enum(MODES),
  maxWorkers: z.int().min(1).max(16),
  allow: z.array(z.strictObject({ sourceId: id, actorId: id, note: z.string().max(500).optional() })).max(500),
  /** `scope`: a GitHub event name, a chat, `*` for the rest. The row is a ceiling: nothing in it rises above. */
  admission: z.array(z.strictObject({ sourceId: id, scope: id, ceiling: z.enum(CEILINGS) })).max(500),
  grants: z
    .array(
      z.strictObject({
        sourceId: id,
        scope: id,
        actorId: id.optional(),
        ruleId: id.optional(),
        repositoryIds: z.array(id).max(100).optional(),
        maxVerb: z.enum(VERBS),
        paths: globs.optional(),
        labels: globs.optional(),
      }),
    )
    .max(500),
  rules: z.array(z.strictObject({ id, text })).max(100),
  assessment: z.strictObject({ model: id.optional(), prompt: text.optional() }),
  worker: z.strictObject({
    model: id.optional(),
    tools: z.array(id).max(100).optional(),
    instructions: z.array(text).max(50).optional(),
    maxIterations: z.int().min(1).max(1_000).optional(),
    maxCostUsd: z.number().positive().max(10_000).optional(),
  }),
  breaker: z.strictObject({ repliesPerThreadPerHour: z.int().min(1).max(1_000) }),
});
export type Policy = z.output<typeof policySchema>;

/** N7 of the spec gives 1 to 16; breaker: the eleventh reply within an hour trips it (router-bugs A1). */
export const NEW_POLICY: Policy = {
  mode: 'observe',
  maxWorkers: 4,
  allow: [],
  admission: [],
  grants: [],
  rules: [],
  assessment: {},
  worker: {},
  breaker: { repliesPerThreadPerHour: 10 },
};

/** A policy with the number of its version; version 0 is `NEW_POLICY`, which nobody has written. */
export interface VersionedPolicy {
  readonly version: number;
  readonly policy: Policy;
}
