import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Conversation, readConversation } from './conversation.ts';
import { extract } from './extract.ts';
import { decide, type Reply } from './plan.ts';
import { fillForm, oneCall } from './step.ts';
import { isAssessment, isWorker, judgePage, workTurn } from './team.ts';

/** The name every reply carries, so that nothing it made can be taken for the work of a real model. */
export const REHEARSAL_MODEL = 'baton-rehearsal';

const MAX_BODY_BYTES = 10_000_000;

export interface RehearsalOptions {
  /** 0 or nothing: any free port. */
  readonly port?: number;
  /** Milliseconds before a reply; real ones take their time too. */
  readonly latencyMs?: number;
}

export interface RehearsalModel {
  /** Base URL of the API, ending in `/v1`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A small OpenAI-compatible server on the loopback that stands in when no model is configured. What it says
 * rests on the request alone: it has no files and no memory between two requests.
 */
export const startRehearsalModel = async (options: RehearsalOptions = {}): Promise<RehearsalModel> => {
  const server = createServer((request, response) => {
    answer(request, response, options.latencyMs ?? 200).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendError(response, 500, `The rehearsal model failed: ${error instanceof Error ? error.message : error}`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The rehearsal model has no port.');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const answer = async (request: IncomingMessage, response: ServerResponse, latencyMs: number): Promise<void> => {
  const path = (request.url ?? '').split('?')[0];
  if (request.method === 'GET' && path === '/v1/models') {
    send(response, 200, { object: 'list', data: [{ id: REHEARSAL_MODEL, object: 'model', owned_by: 'baton' }] });
    return;
  }
  if (request.method !== 'POST' || path !== '/v1/chat/completions') {
    sendError(response, 404, `The rehearsal model has no ${request.method} ${path}.`);
    return;
  }
  const text = await readText(request);
  if (text === undefined) {
    sendError(response, 413, `The request is larger than ${MAX_BODY_BYTES} bytes.`);
    return;
  }
  const body = parse(text);
  const conversation = readConversation(body);
  if (conversation === undefined || conversation.messages.length === 0) {
    sendError(response, 400, 'The request needs "messages", a list of at least one message.');
    return;
  }
  if (typeof body === 'object' && body !== null && 'stream' in body && body.stream === true) {
    sendError(response, 400, 'The rehearsal model does not stream.');
    return;
  }
  await sleep(latencyMs);
  send(response, 200, completion(replyTo(conversation, body), conversation, text));
};

const replyTo = (conversation: Conversation, body: unknown): Reply => {
  const { form, tools } = conversation;
  if (isAssessment(conversation)) return { content: judgePage(conversation), calls: [] };
  if (isWorker(conversation)) return workTurn(conversation);
  if (form !== undefined) return { content: fillForm(form, conversation), calls: [] };
  if (tools.length === 0) return { content: extract(conversation, maxCharacters(body)), calls: [] };
  return tools.includes('finish') ? decide(conversation) : oneCall(conversation);
};

/** Four characters a token, like everywhere in Baton where nobody counts. */
const maxCharacters = (body: unknown): number => {
  const limits = body as { readonly max_tokens?: unknown; readonly max_completion_tokens?: unknown };
  const tokens = [limits.max_tokens, limits.max_completion_tokens].find((value) => typeof value === 'number');
  return Math.max(200, Math.min(4_000, 4 * (typeof tokens === 'number' ? tokens : 1_000)));
};

const completion = (reply: Reply, conversation: Conversation, sent: string): unknown => {
  const calls = reply.calls.map(({ name, args }) => ({
    id: `call_${randomBytes(9).toString('hex')}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  const prompt = Math.ceil(sent.length / 4);
  const written = Math.ceil((reply.content.length + JSON.stringify(calls).length) / 4);
  return {
    id: `chatcmpl-rehearsal-${conversation.messages.length}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: REHEARSAL_MODEL,
    choices: [
      {
        index: 0,
        finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
        message: { role: 'assistant', content: reply.content, ...(calls.length > 0 ? { tool_calls: calls } : {}) },
      },
    ],
    usage: { prompt_tokens: prompt, completion_tokens: written, total_tokens: prompt + written },
  };
};

/** `undefined` when it is too large. */
const readText = async (request: IncomingMessage): Promise<string | undefined> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const send = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

const sendError = (response: ServerResponse, status: number, message: string): void =>
  send(response, status, { error: { message, type: 'invalid_request_error', code: null } });
