import * as z from 'zod';
import { parseArguments } from '../../../lib/tools/run.ts';
import { toolSpec } from '../../../lib/tools/spec.ts';
import { allTools, findTool } from '../../../lib/tools/toolkit.ts';
import { makeToolRun } from '../../tools/tool-context.ts';

const answer = z.object({
  model: z.string(),
  usage: z.object({ prompt_tokens: z.number().min(1), completion_tokens: z.number().min(1) }),
  choices: z.array(
    z.object({
      finish_reason: z.string(),
      message: z.object({
        role: z.literal('assistant'),
        content: z.string(),
        tool_calls: z
          .array(
            z.object({
              id: z.string(),
              type: z.literal('function'),
              function: z.object({ name: z.string(), arguments: z.string() }),
            }),
          )
          .min(1)
          .optional(),
      }),
    }),
  ),
});

type Message = { readonly role: string; readonly content: string; readonly [more: string]: unknown };

export const ask = async (url: string, body: unknown) => {
  const response = await fetch(`${url}/chat/completions`, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as unknown };
};

/** A conversation with the rehearsal model in which the real tools act on files in memory. */
export const makeSmallEngine = (url: string, system: string) => {
  const { files, run, between } = makeToolRun();
  const tools = allTools.map((tool) => ({ type: 'function', function: toolSpec(tool) }));
  const engine = {
    files,
    /** Somebody else changes a file between two steps. */
    edit: (path: string, content: string) => files.write(path, Buffer.from(content), between()),
    remove: (path: string) => files.delete(path, between()),
    messages: [{ role: 'system', content: system }] as Message[],
    calls: [] as string[],
    result: undefined as string | undefined,
    /** One reply and its calls. */
    async step(): Promise<void> {
      const { status, body } = await ask(url, { model: 'm', messages: engine.messages, tools });
      if (status !== 200) throw new Error(JSON.stringify(body));
      const parsed = answer.parse(body);
      const message = parsed.choices[0]?.message;
      if (parsed.model !== 'baton-rehearsal' || message === undefined) throw new Error('It does not say what it is.');
      engine.messages.push(message);
      for (const call of message.tool_calls ?? []) {
        const { name } = call.function;
        const found = findTool(name, allTools);
        if (!found.ok) throw new Error(found.problem);
        const args = parseArguments(found.tool, call.function.arguments);
        if (!args.ok) throw new Error(args.problem);
        const shown = z.object({ path: z.string().optional(), result: z.string().optional() }).parse(args.args);
        engine.calls.push(`${name} ${shown.path ?? ''}`.trim());
        if (name === 'finish') engine.result = shown.result;
        const { text } = await run(found.tool, args.args);
        engine.messages.push({ role: 'tool', tool_call_id: call.id, content: text });
      }
    },
    /** Until it finishes, or a call matches. */
    async until(pattern?: RegExp): Promise<void> {
      for (let steps = 0; steps < 30 && engine.result === undefined; steps++) {
        await engine.step();
        if (pattern?.test(engine.calls.at(-1) ?? '')) return;
      }
    },
    text: async (path: string): Promise<string> => Buffer.from((await files.read(path)) ?? []).toString(),
  };
  return engine;
};
