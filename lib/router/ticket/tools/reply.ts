import * as z from 'zod';
import { keys } from '../../../kernel/keys.ts';
import type { Write } from '../../../kernel/table.ts';
import type { Tool } from '../../../tools/tool.ts';
import { OutsideMandate } from '../../outbox/authority.ts';
import { documentWrites, wakePostings } from '../../outbox/write.ts';
import { asSeen, onceWrite } from '../rows.ts';
import { REPLY } from '../worker.ts';
import { no, once, type ToolDeps, yes } from './context.ts';
import { answeredPlace } from './place.ts';

const schema = z.strictObject({
  content: z
    .string()
    .min(1)
    .max(50_000)
    .describe('Markdown, whole: it takes the place of what you said in this discussion before.'),
  to: z
    .string()
    .max(100)
    .optional()
    .describe('Id of the message that you answer, if it is not the newest one; only messages that were given to you.'),
});

const SAID = yes('It will be said where you were asked.');

/**
 * Says something in the discussion of the message that is answered: one comment for each, edited in place (E49). A place
 * that was lent for a person's message is given back with the answer to it.
 */
export const makeReply = (deps: ToolDeps): Tool<z.infer<typeof schema>> => ({
  name: REPLY,
  description: 'Says something in the discussion that you were asked in. One comment: a later reply takes its place.',
  schema,
  named: true,
  effect: () => 'idempotent',
  resource: () => 'ticket',
  endsTurn: (_, lent) => (lent ? 'yield' : undefined),
  timeoutSeconds: 20,
  execute: ({ content, to }, context) =>
    once(deps, context, SAID, async (ticket) => {
      const { run } = context;
      if (run === undefined) return { answer: no('This run works for no ticket.') };
      const answered = await answeredPlace(deps.table, ticket, run, to);
      if (answered === undefined) {
        const text =
          to === undefined
            ? 'This ticket was opened without a discussion: say it in a report.'
            : `No message ${to} of a discussion of this ticket was given to you.`;
        return { answer: no(text) };
      }
      const now = deps.clock.now();
      const { orgId, id } = ticket;
      try {
        const wish = { orgId, ticket, body: content, at: now, ...answered };
        const { postingId, writes } = documentWrites(wish);
        const guard: Write = { check: keys.ticket(orgId, id), if: asSeen(ticket) };
        return {
          writes: [onceWrite(orgId, id, `call ${context.key}`, now), guard, ...writes],
          done: async () => {
            await wakePostings(deps, orgId, [postingId]);
            return SAID;
          },
        };
      } catch (error) {
        if (error instanceof OutsideMandate) return { answer: no(error.message) };
        throw error;
      }
    }),
});
