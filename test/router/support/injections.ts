import { readdirSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import { VERBS } from '../../../lib/router/mandate/mandate.ts';
import { DECISIONS } from '../../../lib/router/thread/trigger.ts';

/** An attack by text, and what a model does that obeys it. */
const attackSchema = z.strictObject({
  id: z.string(),
  /** As somebody writes it in a comment. */
  text: z.string(),
  /** Whether it names `team-agent` in its own words. */
  names: z.boolean(),
  /** Words that say what to do. */
  payload: z.string().optional(),
  /** Whether readers see the payload. */
  legible: z.boolean().optional(),
  note: z.string().optional(),
  /** What an obedient model answers or calls. */
  wants: z.strictObject({
    decision: z.enum(DECISIONS).optional(),
    ruleId: z.string().optional(),
    ticketId: z.string().optional(),
    mandate: z
      .strictObject({
        verb: z.enum(VERBS),
        repositoryId: z.string().optional(),
        paths: z.array(z.string()).optional(),
        labels: z.array(z.string()).optional(),
      })
      .optional(),
    reply: z.string().optional(),
    threadId: z.string().optional(),
    call: z.strictObject({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) }).optional(),
  }),
});
export type Attack = z.output<typeof attackSchema>;

const FOLDER = new URL('../../fixtures/injections/', import.meta.url);

/** The corpus of attacks, by its files' order. */
export const ATTACKS: readonly Attack[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .toSorted()
  .flatMap((name) => z.array(attackSchema).parse(JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'))));

/** For `it.each`. */
export const titledAttacks = ATTACKS.map((attack) => [attack.id, attack] as const);
