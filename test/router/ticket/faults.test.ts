import { describe, expect, it } from 'vitest';
import { said } from '../support/team.ts';
import { violationsOf } from './checks.ts';
import type { Strike } from './ports.ts';
import { makeShop, newest, type Shop, type ShopOptions, type Worker } from './shop.ts';

const worker: Worker = (request) => {
  const words = newest(request).split('\n').at(-1) ?? '';
  if (/finish/.test(words)) return [['finish', { result: 'Done.' }]];
  if (/ask/.test(words)) return [['report', { state: 'waiting', on: 'person', text: 'Which?' }]];
  return [
    ['reply', { content: `Answer to: ${words}` }],
    ['report', { state: 'waiting', on: 'event', text: 'For CI.' }],
  ];
};

interface Scenario {
  readonly options?: Omit<ShopOptions, 'strike'>;
  readonly play: (shop: Shop) => Promise<void>;
  readonly expects: (shop: Shop) => void;
}

const phases = (shop: Shop): string[] =>
  [...shop.tickets()].sort((a, b) => a.title.localeCompare(b.title)).map(({ phase }) => phase);

const SCENARIOS: { readonly [name: string]: Scenario } = {
  'a ticket with two turns': {
    play: async (shop) => {
      await shop.open(said('@baton ask', { number: 1 }));
      await shop.heal();
      await shop.say(said('This one.', { number: 2 }));
    },
    expects: (shop) => {
      expect(shop.tickets()).toMatchObject([{ phase: 'idle', reports: 2 }]);
      expect(shop.postings().filter(({ kind, body }) => kind === 'document' && body !== '')).toMatchObject([
        { body: 'Answer to: This one.' },
      ]);
      expect(shop.postings().filter(({ kind }) => kind === 'post')).toHaveLength(1);
    },
  },
  'two tickets and one place': {
    options: { policy: { maxWorkers: 1 } },
    play: async (shop) => {
      await shop.accept(await shop.hear(said('@baton one', { number: 1, issue: 1 })));
      await shop.accept(await shop.hear(said('@baton two', { number: 2, issue: 2 })));
      await shop.drain();
    },
    expects: (shop) => expect(phases(shop)).toEqual(['idle', 'idle']),
  },
  'a stop while another waits': {
    options: { policy: { maxWorkers: 1 } },
    play: async (shop) => {
      await shop.accept(await shop.hear(said('@baton one', { number: 1, issue: 1 })));
      await shop.accept(await shop.hear(said('@baton two', { number: 2, issue: 2 })));
      await shop.hear(said('@baton stop', { number: 3, issue: 1 }));
      await shop.drain();
    },
    expects: (shop) => {
      expect(phases(shop)).toEqual(['closed', 'idle']);
      expect(shop.tickets().filter(({ mandate }) => mandate.state === 'revoked')).toHaveLength(1);
    },
  },
  'a run that has ended, and a message after it': {
    play: async (shop) => {
      await shop.open(said('@baton finish', { number: 1 }));
      await shop.heal();
      await shop.say(said('And this.', { number: 2 }));
    },
    expects: (shop) => {
      expect(shop.tickets()).toMatchObject([{ phase: 'idle' }]);
      expect(shop.tickets()[0]?.executionIds).toHaveLength(2);
    },
  },
  'a Thread that joins': {
    play: async (shop) => {
      const id = await shop.open(said('@baton one', { number: 1, issue: 1 }));
      await shop.heal();
      const other = await shop.hear(said('@baton two', { number: 2, issue: 2 }));
      await shop.invoke(() => shop.joinOnce(other, id));
      await shop.drain();
    },
    expects: (shop) => {
      expect(shop.tickets()).toMatchObject([{ phase: 'idle', reports: 2 }]);
      expect(shop.postings().filter(({ body }) => body !== '')).toHaveLength(2);
    },
  },
  'a person who speaks while all places are taken': {
    options: { policy: { maxWorkers: 1 } },
    play: async (shop) => {
      await shop.open(said('@baton talk', { number: 1, issue: 1 }));
      await shop.accept(await shop.hear(said('@baton work', { number: 2, issue: 2 })));
      await shop.hear(said('Say hello', { number: 3, issue: 1 }));
      await shop.drain();
    },
    expects: (shop) => expect(phases(shop)).toEqual(['idle', 'idle']),
  },
};

const run = async ({ options, play, expects }: Scenario, strike?: Strike): Promise<string[]> => {
  const shop = await makeShop(worker, { ...options, ...(strike && { strike }) });
  await play(shop);
  await shop.heal();
  const found = await violationsOf(shop);
  try {
    expects(shop);
  } catch (error) {
    found.push(String(error).slice(0, 300));
  }
  return found;
};

describe.each(Object.entries(SCENARIOS))('%s', (_, scenario) => {
  it('comes to its end undisturbed', async () => {
    expect(await run(scenario)).toEqual([]);
  });

  it.each(['before', 'after'] as const)(
    'survives a process that dies %s any call',
    async (when) => {
      const shop = await makeShop(worker, scenario.options);
      await scenario.play(shop);
      const calls = shop.ports.calls();
      expect(calls).toBeGreaterThan(60);
      const failed: string[] = [];
      for (let at = 0; at < calls; at++) {
        const found = await run(scenario, { at, when }).catch((error: unknown) => [String(error)]);
        if (found.length > 0) failed.push(`call ${at}: ${found.join('; ')}`);
      }
      expect(failed).toEqual([]);
    },
    240_000,
  );
});
