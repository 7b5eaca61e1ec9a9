import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** One call of the Eval: how many Triggers it was asked about, and how long the model took for them. */
export interface Assessment {
  readonly thread: string;
  /** `performance.now()` when the model was asked. */
  readonly at: number;
  readonly asked: number;
  readonly ms: number;
}

/** The model of a team: it decides as the texts say, after the time that such a model takes, and works as little as it can. */
export interface TeamModel {
  /** Base URL of the API. */
  readonly url: string;
  /** `host:port` */
  readonly host: string;
  readonly assessments: readonly Assessment[];
  /** From now on an assessment takes `base` and so much `each` more for every decision, milliseconds. */
  pace(base: number, each: number): void;
  close(): void;
}

export const ASSESSOR = 'bench-assessor';
export const WORKER = 'bench-worker';
/** A text with this word opens a ticket; every other one is ignored. */
export const ASKS = 'please';

interface Request {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content?: string | null }[];
}

const completion = (message: object, finish: string, tokens: number) => ({
  id: 'bench',
  object: 'chat.completion',
  choices: [{ index: 0, finish_reason: finish, message: { role: 'assistant', content: null, ...message } }],
  usage: { prompt_tokens: tokens, completion_tokens: 40, total_tokens: tokens + 40 },
});

/** The pieces of a page that are to be decided, each from its `DECIDE` to the next. */
const askedIn = (page: string): readonly { readonly triggerId: string; readonly text: string }[] =>
  page
    .split(/^(?=DECIDE )/m)
    .slice(1)
    .map((text) => ({ triggerId: /^DECIDE (\S+)/.exec(text)?.[1] ?? '', text }));

/** Texts of the bench begin with the name of their Thread. */
const THREAD = /\[([\w-]+)\]/;

export const startTeamModel = async (): Promise<TeamModel> => {
  const assessments: Assessment[] = [];
  let pace = { base: 0, each: 0 };

  const assess = async ({ messages }: Request): Promise<object> => {
    const page = messages.find(({ role }) => role === 'user')?.content ?? '';
    const asked = askedIn(page);
    const ms = pace.base + pace.each * asked.length;
    const thread = THREAD.exec(asked[0]?.text ?? '')?.[1] ?? '';
    assessments.push({ thread, at: performance.now(), asked: asked.length, ms });
    await sleep(ms);
    const decisions = asked.map(({ triggerId, text }) => ({
      triggerId,
      decision: text.includes(ASKS) ? 'accept' : 'ignore',
      ticketId: null,
      ruleId: null,
      reason: 'As the bench has it.',
      title: text.includes(ASKS) ? 'A ticket of the bench' : null,
      reply: null,
      mandate: null,
    }));
    return completion({ content: JSON.stringify({ decisions }) }, 'stop', Math.ceil(page.length / 4));
  };

  /** Every turn of a worker: it waits for people. */
  const work = (): object => {
    const call = { name: 'report', arguments: JSON.stringify({ state: 'waiting', text: 'What next?', on: 'person' }) };
    return completion({ tool_calls: [{ id: 'call_1', type: 'function', function: call }] }, 'tool_calls', 400);
  };

  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const asked = (await json(request)) as Request;
      const said = asked.model === ASSESSOR ? await assess(asked) : work();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said));
    };
    answer().catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/v1`,
    host,
    assessments,
    pace(base, each) {
      pace = { base, each };
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
