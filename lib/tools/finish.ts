import * as z from 'zod';
import type { Tool } from './tool.ts';

const schema = z.strictObject({
  result: z
    .string()
    .min(1)
    .max(100_000)
    .describe('The result of the whole task, complete and ready to be read by the user.'),
});

/** Name of the call that ends a run; the engine looks for it. */
export const FINISH = 'finish';

export const finish: Tool<z.infer<typeof schema>> = {
  name: FINISH,
  description: 'Ends the run with its result. Call it once, when every goal has been reached or cannot be reached.',
  schema,
  effect: () => 'none',
  timeoutSeconds: 1,
  /** The engine ends the run with the argument; here is only what the conversation shows. */
  execute: async () => ({ ok: true, text: 'The run is finished.' }),
};
