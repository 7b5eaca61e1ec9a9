import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeServer, listen, readBody } from './http-server.ts';
import { promptProblem, type WireMessage } from './prompt-rules.ts';

export interface ModelCall {
  /** 1 for the first step call of this script. */
  readonly n: number;
  readonly at: number;
  readonly messages: readonly WireMessage[];
  readonly tools: readonly string[];
  /** Name of the form that the reply must have, where one is demanded. */
  readonly form?: string;
  readonly headers: IncomingMessage['headers'];
  readonly maxTokens: number;
  /** The caller hung up before it was answered. */
  readonly aborted: () => boolean;
}

export interface ToolUse {
  readonly name: string;
  /** A text goes out as it is. */
  readonly args: object | string;
}

export type Reply =
  | {
      readonly text?: string;
      readonly calls?: readonly ToolUse[];
      readonly finish?: string;
      readonly refusal?: string;
      readonly waitMs?: number;
    }
  /** Anything else than a completion. */
  | {
      readonly status: number;
      readonly headers?: { readonly [name: string]: string };
      readonly body: string | Uint8Array | object;
    };

export type Script = (call: ModelCall) => Reply | Promise<Reply>;

/** What was asked of one script: an execution names it as its `model`. */
export interface Heard {
  /** Calls of steps: those that offer tools or demand a form. */
  readonly calls: ModelCall[];
  /** Calls that condense: without either. */
  readonly summaries: ModelCall[];
}

export interface ScriptedModel {
  /** Base URL for OPENAI_BASE_URL. */
  readonly url: string;
  readonly host: string;
  script(name: string, script: Script): Heard;
  /** Prompts that a provider would have refused, in words. */
  readonly problems: string[];
  close(): Promise<void>;
}

export const finish = (result: string): Reply => ({ calls: [{ name: 'finish', args: { result } }] });
export const use = (name: string, args: object | string): Reply => ({ calls: [{ name, args }] });

/** An OpenAI-compatible server whose replies are functions of the call, one for each model name. */
export const startScriptedModel = async (): Promise<ScriptedModel> => {
  const scripts = new Map<string, { readonly script: Script; readonly heard: Heard }>();
  const problems: string[] = [];
  let ids = 0;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse((await readBody(request)).toString('utf8')) as {
      readonly model: string;
      readonly messages: readonly WireMessage[];
      readonly tools?: readonly { readonly function: { readonly name: string } }[];
      readonly max_tokens: number;
      readonly response_format?: { readonly json_schema: { readonly name: string } };
    };
    const form = body.response_format?.json_schema.name;
    const found = scripts.get(body.model);
    if (found === undefined) return send(response, 404, { error: { message: `no script ${body.model}` } });
    const tools = (body.tools ?? []).map((tool) => tool.function.name);
    const { heard } = found;
    const isStep = tools.length > 0 || form !== undefined;
    let aborted = false;
    response.on('close', () => (aborted = !response.writableEnded));
    const call: ModelCall = {
      n: (isStep ? heard.calls : heard.summaries).length + 1,
      at: performance.now(),
      messages: body.messages,
      tools,
      ...(form !== undefined && { form }),
      headers: request.headers,
      maxTokens: body.max_tokens,
      aborted: () => aborted,
    };
    (isStep ? heard.calls : heard.summaries).push(call);
    const problem = promptProblem(body.messages);
    if (problem !== undefined) problems.push(`${body.model}, call ${call.n}: ${problem}`);
    const reply = isStep ? await found.script(call) : { text: 'Notes: all went well so far.' };
    if ('status' in reply) return send(response, reply.status, reply.body, reply.headers);
    if (reply.waitMs !== undefined) await sleep(reply.waitMs);
    if (!aborted)
      send(
        response,
        200,
        completion(body.model, reply, () => `call_${++ids}`),
      );
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      problems.push(`the script failed: ${String(error)}`);
      send(response, 500, { error: { message: String(error) } });
    });
  });
  const { host } = await listen(server);
  return {
    url: `http://${host}/v1`,
    host,
    problems,
    script(name, script) {
      const heard: Heard = { calls: [], summaries: [] };
      scripts.set(name, { script, heard });
      return heard;
    },
    close: () => closeServer(server),
  };
};

const completion = (model: string, reply: Exclude<Reply, { status: number }>, newId: () => string): object => {
  const calls = reply.calls?.map(({ name, args }) => ({
    id: newId(),
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }));
  return {
    id: `chatcmpl-${newId()}`,
    object: 'chat.completion',
    created: 1,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.text ?? null,
          refusal: reply.refusal ?? null,
          ...(calls !== undefined && { tool_calls: calls }),
        },
        finish_reason: reply.finish ?? (calls === undefined ? 'stop' : 'tool_calls'),
      },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
  };
};

const send = (
  response: ServerResponse,
  status: number,
  body: string | Uint8Array | object,
  headers: { readonly [name: string]: string } = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body));
};
