/** The form of an assessment: asked for by schema, said in the prompt, and read with patience. */
import * as z from 'zod';
import type { ResponseSchema } from '../../model/model.ts';
import { VERBS } from '../mandate/mandate.ts';
import { DECISIONS } from '../thread/trigger.ts';

/** Servers that keep to a schema in strict mode send `null` for what is missing. */
const optional = <T extends z.ZodType>(schema: T) =>
  z
    .union([schema, z.null()])
    .optional()
    .transform((value): z.output<T> | undefined => value ?? undefined);

const words = z.string().trim().min(1);

const decisionSchema = z.object({
  triggerId: z.string(),
  decision: z.enum(DECISIONS),
  ticketId: optional(words),
  ruleId: optional(words),
  reason: words,
  title: optional(words),
  reply: optional(words),
  mandate: optional(
    z.object({
      verb: z.enum(VERBS),
      repositoryId: optional(words),
      paths: optional(z.array(z.string())),
      labels: optional(z.array(z.string())),
    }),
  ),
});
/** What the model says of one Trigger; nothing of it is believed before `rule.ts` has looked at it. */
export type Proposal = z.output<typeof decisionSchema>;

const replySchema = z.object({ decisions: z.array(z.unknown()).max(200) });

const nullable = (schema: { readonly [member: string]: unknown }) => ({ anyOf: [schema, { type: 'null' }] });
const strings = nullable({ type: 'array', items: { type: 'string' } });
const object = (properties: { readonly [name: string]: unknown }) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

export const DECISIONS_OUTPUT: ResponseSchema = {
  name: 'decisions',
  schema: object({
    decisions: {
      type: 'array',
      items: object({
        triggerId: { type: 'string' },
        decision: { type: 'string', enum: [...DECISIONS] },
        ticketId: nullable({ type: 'string' }),
        ruleId: nullable({ type: 'string' }),
        reason: { type: 'string' },
        title: nullable({ type: 'string' }),
        reply: nullable({ type: 'string' }),
        mandate: nullable(
          object({
            verb: { type: 'string', enum: [...VERBS] },
            repositoryId: nullable({ type: 'string' }),
            paths: strings,
            labels: strings,
          }),
        ),
      }),
    },
  }),
};

export type ReadReply =
  | { readonly ok: true; readonly proposals: readonly Proposal[] }
  /** A sentence for the one repair round. */
  | { readonly ok: false; readonly problem: string };

const MOST_REPLY = 200_000; // characters that are looked at

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The JSON object in a reply: bare, in a fence, or in the middle of words. */
const objectIn = (reply: string): unknown => {
  const text = reply.slice(0, MOST_REPLY);
  const whole = parsed(text);
  if (whole !== undefined) return whole;
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  return from === -1 || to <= from ? undefined : parsed(text.slice(from, to + 1));
};

/**
 * Decisions that do not fit are a problem as long as there is a round to mend them; `lenient` takes those that do fit.
 * @param reply the text of the model's reply
 */
export const readDecisions = (reply: string, lenient: boolean): ReadReply => {
  const outer = replySchema.safeParse(objectIn(reply));
  if (!outer.success) {
    return { ok: false, problem: 'The reply is not JSON of the form {"decisions": [{"triggerId": …}]}.' };
  }
  const read = outer.data.decisions.map((one) => decisionSchema.safeParse(one));
  const bad = read.findIndex(({ success }) => !success);
  if (bad !== -1 && !lenient) {
    const issue = read[bad]?.error?.issues[0];
    const where = [`decisions[${bad}]`, ...(issue?.path ?? [])].join('.');
    return { ok: false, problem: `${where}: ${issue?.message ?? 'it does not fit'}.` };
  }
  return { ok: true, proposals: read.flatMap((one) => (one.success ? [one.data] : [])) };
};
