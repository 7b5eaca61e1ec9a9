import * as z from 'zod';
import type { Write } from '../../../kernel/table.ts';
import type { RunOfCall, Tool } from '../../../tools/tool.ts';
import { OutsideMandate, refusalOf } from '../../outbox/authority.ts';
import { speechOf } from '../../outbox/speech.ts';
import { documentWrites, postingWrites, reviewRequestWrites, type Written, wakePostings } from '../../outbox/write.ts';
import { shorten } from '../../points.ts';
import { findTrigger } from '../../thread/find.ts';
import { changed, changeWrites } from '../change.ts';
import { wakeEffects } from '../deps.ts';
import { onceWrite, reportItem } from '../rows.ts';
import { REPORTS, type Ticket } from '../ticket.ts';
import { REPORT } from '../worker.ts';
import { once, type ToolDeps, yes } from './context.ts';
import { type Answered, answeredPlace } from './place.ts';

const schema = z
  .strictObject({
    state: z.enum(REPORTS).describe('progress goes on; every other one ends the turn.'),
    on: z.enum(['person', 'event']).optional().describe('Of waiting: what for.'),
    text: z
      .string()
      .min(1)
      .max(4_000)
      .describe('In a few sentences. Of waiting on a person: the one question. Of blocked: what is missing.'),
  })
  .refine(({ state, on }) => (state === 'waiting') === (on !== undefined), {
    path: ['on'],
    message: 'person or event with the state waiting, and nothing with any other',
  });
type Arguments = z.infer<typeof schema>;

/** Texts of progress that the digest keeps. */
const MOST_LEARNED = 10;
const LONGEST_LEARNED = 400; // code points

const textOf = ({ state }: Arguments): string =>
  state === 'progress' ? 'Noted.' : 'Noted: this turn is over. The next message begins another.';

/**
 * A report is a row and the ticket's last word; what it means for the ticket's phase follows when the turn has ended, which
 * a message may still hold back. A person who has to act is told in the discussion at once, by a comment of its own.
 */
export const makeReport = (deps: ToolDeps): Tool<Arguments> => ({
  name: REPORT,
  description: 'Tells the team how the ticket stands. Everything but progress ends your turn.',
  schema,
  named: true,
  effect: () => 'idempotent',
  resource: () => 'ticket',
  endsTurn: ({ state }) => (state === 'progress' ? undefined : 'over'),
  timeoutSeconds: 20,
  execute: (args, context) =>
    once(deps, context, yes(textOf(args)), async (ticket) => {
      const { run } = context;
      const { orgId, id } = ticket;
      const now = deps.clock.now();
      const n = ticket.reports + 1;
      const report = { state: args.state, ...(args.on !== undefined && { on: args.on }), text: args.text, at: now };
      const learned =
        args.state === 'progress'
          ? [...ticket.learned, shorten(args.text, LONGEST_LEARNED)].slice(-MOST_LEARNED)
          : ticket.learned;
      const { writes, effectIds } = changeWrites(ticket, changed(ticket, { report, reports: n, learned }, now));
      const row = { ...report, n, executionId: run?.executionId ?? '' };
      const said = run === undefined ? undefined : await speak(deps, ticket, run, args, n, now);
      const all: readonly Write[] = [
        onceWrite(orgId, id, `call ${context.key}`, now),
        ...writes,
        { put: reportItem(orgId, id, row) },
        ...(said?.writes ?? []),
      ];
      return {
        writes: all,
        done: async () => {
          await wakeEffects(deps, orgId, effectIds);
          if (said !== undefined) await wakePostings(deps, orgId, [said.postingId]);
          return yes(textOf(args));
        },
      };
    }),
});

/** What of it is said in the discussion; a mandate that may not speak has the report all the same. */
const speak = async (
  deps: ToolDeps,
  ticket: Ticket,
  run: RunOfCall,
  { state, on, text }: Arguments,
  n: number,
  now: number,
): Promise<Written | undefined> => {
  const speech = speechOf(state, on);
  const answered = await answeredPlace(deps.table, ticket, run);
  if (answered === undefined || speech === 'nothing') return undefined;
  const { orgId } = ticket;
  try {
    if (speech === 'review') return await review(deps, ticket, answered, n, now);
    const common = { orgId, ticket, at: now, ...answered };
    if (speech === 'post') return postingWrites({ ...common, cause: `report ${ticket.id} ${n}`, body: text });
    return documentWrites({ ...common, [speech]: text });
  } catch (error) {
    if (error instanceof OutsideMandate) return undefined;
    throw error;
  }
};

/** Whoever asked is asked for the review, where the mandate goes so far. */
const review = async (
  deps: ToolDeps,
  ticket: Ticket,
  { place, askedAt }: Answered,
  n: number,
  now: number,
): Promise<Written | undefined> => {
  const { orgId, triggerId } = ticket;
  if (triggerId === undefined || refusalOf(ticket, 'pr', place) !== undefined) return undefined;
  const trigger = await findTrigger(deps.table, orgId, place.threadId, triggerId);
  const login = trigger?.actor.type === 'user' ? trigger.actor.login : undefined;
  if (login === undefined) return undefined;
  const cause = `report ${ticket.id} ${n}`;
  return reviewRequestWrites({ orgId, ticket, place, askedAt, cause, at: now, reviewers: [login] });
};
