import { beforeEach, describe, expect, it } from 'vitest';
import { STAND_IN_MS } from '../../lib/execution/step/choose-model.ts';
import type { ModelClient, ModelOutcome } from '../../lib/model/model.ts';
import { AGENT, type Engine, makeTenantEngine, ORG } from '../fuzz/support/engine.ts';

const PRICES: { readonly [model: string]: number | undefined } = {
  first: 1,
  second: 10,
  third: 2,
  unpriced: undefined,
};
const AWAY: ModelOutcome = { kind: 'retry', code: 'model_unavailable', message: 'HTTP 503', billed: false };

let engine: Engine;
/** Models that do not answer. */
let away: Set<string>;
/** Names of the models that were asked, in order. */
let asked: string[];
let replies: number;
beforeEach(async () => {
  engine = await makeTenantEngine();
  away = new Set();
  asked = [];
  replies = 0;
});

const own = {
  resolveModel: async (_org: string, name: string | undefined) => {
    const model = name ?? 'first';
    if (!(model in PRICES)) return undefined;
    const usd = PRICES[model];
    const price = usd && { inputUsdPerM: usd, cachedUsdPerM: usd, outputUsdPerM: usd, contextTokens: 128_000 };
    return { account: { baseUrl: 'http://m.example', apiKey: 'k', trusted: true }, model, price: price || undefined };
  },
};

/** Thinks until it is told to end. */
const models = (last: number): ModelClient => ({
  complete: async ({ model }) => {
    asked.push(model);
    if (away.has(model)) return AWAY;
    const answered = ++replies;
    const [name, args] = answered >= last ? ['finish', { result: 'done' }] : ['think', { thought: `${answered}` }];
    return {
      kind: 'reply',
      content: '',
      toolCalls: [{ id: 'c', name: String(name), arguments: JSON.stringify(args) }],
      finishReason: 'tool_calls',
      refused: false,
      usage: { input: 10, output: 5, cached: 0 },
    };
  },
});

const start = (config: object): Promise<string> => engine.start(ORG, AGENT, { maxIterations: 50, ...config });
const turns = async (client: ModelClient, most: number): Promise<void> => {
  for (let turn = 0; turn < most && engine.queued() > 0; turn++) await engine.deliver(client, own);
};

describe('a run with fallback models', () => {
  it('asks the first choice while it answers', async () => {
    const id = await start({ model: 'first', fallbackModels: ['second'] });
    await turns(models(3), 10);
    expect(asked).toEqual(['first', 'first', 'first']);
    expect(await engine.execution(ORG, id)).toMatchObject({ status: 'COMPLETED', calls: 3 });
  });

  it('asks the next one a second later, and stays with it until the time of stand-ins is over', async () => {
    const id = await start({ model: 'first', fallbackModels: ['second', 'third'] });
    away = new Set(['first']);
    const began = engine.now();
    await turns(models(2), 2);
    expect(asked).toEqual(['first', 'second']);
    expect(engine.now() - began).toBeLessThan(5_000);
    engine.pass(STAND_IN_MS);
    away.clear();
    await turns(models(3), 10);
    expect(asked).toEqual(['first', 'second', 'first', 'first']);
    expect(await engine.execution(ORG, id)).toMatchObject({ status: 'COMPLETED', attempts: 0 });
  });

  it('waits only when all of them are away, and begins with the first again', async () => {
    const id = await start({ model: 'first', fallbackModels: ['second'] });
    away = new Set(['first', 'second']);
    await turns(models(1), 2);
    expect(asked).toEqual(['first', 'second']);
    expect(await engine.execution(ORG, id)).toMatchObject({ status: 'RUNNING', standIn: undefined, attempts: 0 });
    away.clear();
    await turns(models(1), 5);
    expect(asked).toEqual(['first', 'second', 'first']);
    expect(await engine.execution(ORG, id)).toMatchObject({ status: 'COMPLETED' });
  });

  it('reserves what the dearest of them can cost, and books what the one that answered does', async () => {
    const plain = await start({ model: 'first' });
    await turns(models(1), 5);
    const id = await start({ model: 'first', fallbackModels: ['second'] });
    replies = 0;
    away = new Set(['first']);
    await turns(models(2), 2);
    const [one, several] = [await engine.execution(ORG, plain), await engine.execution(ORG, id)];
    expect(several.worst).toBe(one.worst * 10);
    expect(several.cost).toBe(15 * 10);
  });

  it('passes over a name that no account takes, and stops when none is left', async () => {
    const id = await start({ model: 'nobody', fallbackModels: ['third'] });
    await turns(models(1), 5);
    expect(asked).toEqual(['third']);
    expect(await engine.execution(ORG, id)).toMatchObject({ status: 'COMPLETED' });
    const none = await start({ model: 'nobody', fallbackModels: ['nowhere'] });
    await turns(models(1), 5);
    expect(await engine.execution(ORG, none)).toMatchObject({ status: 'ERROR_PAUSED', reason: 'model_not_configured' });
  });

  it('does not take a refused key for an outage', async () => {
    const id = await start({ model: 'first', fallbackModels: ['second'] });
    const refusing: ModelClient = {
      complete: async ({ model }) => {
        asked.push(model);
        return { kind: 'stop', code: 'model_unauthorized', message: 'No such key.' };
      },
    };
    await turns(refusing, 5);
    expect(asked).toEqual(['first']);
    expect(await engine.execution(ORG, id)).toMatchObject({ status: 'ERROR_PAUSED', reason: 'model_unauthorized' });
  });
});
