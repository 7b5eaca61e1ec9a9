import * as z from 'zod';
import type { Tool } from './tool.ts';

const schema = z.strictObject({
  thought: z.string().min(1).max(20_000).describe('What you know, what is missing, and what you will do next.'),
});

export const think: Tool<z.infer<typeof schema>> = {
  name: 'think',
  description: 'Writes down a thought before acting. Nothing else happens; the thought stays in the conversation.',
  schema,
  effect: () => 'none',
  timeoutSeconds: 1,
  execute: async () => ({ ok: true, text: 'Noted.' }),
};
