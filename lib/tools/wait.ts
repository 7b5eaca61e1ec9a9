import * as z from 'zod';
import type { Tool } from './tool.ts';

/** One year. */
export const LONGEST_WAIT_SECONDS = 31_536_000;

const schema = z
  .strictObject({
    seconds: z
      .int()
      .min(1)
      .max(LONGEST_WAIT_SECONDS)
      .optional()
      .describe('How long, in whole seconds, up to a year. Give either this or until.'),
    until: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('A date and time with its offset, such as 2026-03-01T09:00:00+01:00, at most a year ahead.'),
    wakeOnInput: z.boolean().optional().describe('Whether a message ends the wait early. Usually true.'),
    why: z.string().max(1_000).optional().describe('What the wait is for, for the people who look at the run.'),
  })
  .refine(({ seconds, until }) => (seconds === undefined) !== (until === undefined), {
    error: 'either seconds or until, and not both',
  });
export type WaitArguments = z.infer<typeof schema>;

/** Name of the call that lets time pass; the engine looks for it and parks the step. */
export const WAIT = 'wait';

/** When a wait that begins now is over, ms; `problem` is a sentence for the model. */
export const endOfWait = (
  { seconds, until }: WaitArguments,
  now: number,
): { readonly ok: true; readonly until: number } | { readonly ok: false; readonly problem: string } => {
  const at = until === undefined ? now + (seconds ?? 0) * 1000 : Date.parse(until);
  if (at - now <= LONGEST_WAIT_SECONDS * 1000) return { ok: true, until: at };
  return { ok: false, problem: `${until} is more than a year ahead: wait for a year at most, then wait again.` };
};

export const wait: Tool<WaitArguments> = {
  name: WAIT,
  description:
    'Lets time pass, from a second to a year, and costs nothing meanwhile. Use it when something needs time before the next look, instead of asking again and again.',
  schema,
  effect: () => 'none',
  timeoutSeconds: 1,
  /** Reached only where no step can stand still: the engine parks the step before it would execute this. */
  execute: async () => ({ ok: false, text: 'Waiting is not possible here. Go on with what you know.' }),
};
