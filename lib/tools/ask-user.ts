import * as z from 'zod';
import type { Tool } from './tool.ts';

const schema = z.strictObject({
  question: z.string().min(1).max(4_000).describe('The question, with everything the user needs to answer it.'),
});

/** Name of the call that waits for a person; the engine looks for it and parks the step. */
export const ASK_USER = 'ask_user';

export const askUser: Tool<z.infer<typeof schema>> = {
  name: ASK_USER,
  description:
    'Asks the user a question and waits for the answer. Use it only for what you cannot find out yourself or may not decide.',
  schema,
  effect: () => 'none',
  timeoutSeconds: 1,
  /** Reached only where nobody can be asked: the engine parks the step before it would execute this. */
  execute: async () => ({ ok: false, text: 'Nobody can be asked here. Go on with what you know.' }),
};
