/** The scripted model as a process of its own, so that it does not share an event loop with what is measured. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  asksForTasks,
  type ChatRequest,
  isCountedByPrompt,
  isSummary,
  type ModelCall,
  repliesIn,
  replyTo,
  type Script,
  scriptOf,
  tasksReply,
  windowChars,
} from './script.ts';

const calls: ModelCall[] = [];
const counts = new Map<string, number>();

const now = (): number => performance.timeOrigin + performance.now();
const noise = (chars: number): string =>
  randomBytes(Math.ceil(chars / 2))
    .toString('hex')
    .slice(0, chars);

/** A run that may meet a crash is counted by its prompt, which holds what was committed; a long one by its requests. */
const stepOf = (script: Script, request: ChatRequest): number | undefined => {
  if (isSummary(request) || asksForTasks(request)) return undefined;
  if (isCountedByPrompt(script)) return repliesIn(request) + 1;
  const step = (counts.get(script.run) ?? 0) + 1;
  counts.set(script.run, step);
  return step;
};

const complete = (text: string, at: number): unknown => {
  const request = JSON.parse(text) as ChatRequest;
  // The request for a summary shows the goals to the model too, so the script is in every prompt.
  const script = scriptOf(request);
  const step = stepOf(script, request);
  const reply = asksForTasks(request) ? tasksReply(script) : replyTo(script, step, noise);
  calls.push({ run: script.run, at, step, windowChars: windowChars(request) });
  return {
    id: `bench-${calls.length}`,
    object: 'chat.completion',
    created: Math.floor(at / 1000),
    model: 'gpt-4o-mini',
    choices: [
      {
        index: 0,
        finish_reason: reply.calls.length > 0 ? 'tool_calls' : 'stop',
        message: {
          role: 'assistant',
          content: reply.content,
          ...(reply.calls.length > 0 && {
            tool_calls: reply.calls.map(({ name, args }) => ({
              id: `call_${randomBytes(12).toString('hex')}`,
              type: 'function',
              function: { name, arguments: JSON.stringify(args) },
            })),
          }),
        },
      },
    ],
    usage: { prompt_tokens: Math.ceil(text.length / 4), completion_tokens: 280, total_tokens: 0 },
  };
};

const readText = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};

const answer = async (request: IncomingMessage): Promise<unknown> => {
  const at = now();
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (url.pathname !== '/calls') return complete(await readText(request), at);
  const run = url.searchParams.get('run');
  return run === null ? calls : calls.filter((call) => call.run === run);
};

const server = createServer((request, response) => {
  answer(request).then(
    (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
// The parent's end is the channel's end.
process.on('disconnect', () => process.exit(0));
