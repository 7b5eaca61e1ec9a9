import { expect, it } from 'vitest';
import { makeHarness } from './support/harness.ts';

it('lists the models of the accounts with what is known of their prices, and nobody elses', async () => {
  const h = await makeHarness();
  expect((await h.call('GET', '/v1/models')).json).toEqual({ items: [] });
  const baseUrl = 'https://m.example/v1';
  await h.call('PUT', '/v1/providers/mine', {
    baseUrl,
    apiKey: 'k',
    default: true,
    models: [{ name: 'gpt-4o' }, { name: 'gpt-4o-mini', inputUsdPerM: 7, outputUsdPerM: 9 }, { name: 'unheard-of' }],
  });
  expect((await h.call('GET', '/v1/models')).json.items).toEqual([
    { name: 'gpt-4o', provider: 'mine', contextTokens: 128_000, inputUsdPerM: 2.5, outputUsdPerM: 10, default: true },
    {
      name: 'gpt-4o-mini',
      provider: 'mine',
      contextTokens: 128_000,
      inputUsdPerM: 7,
      outputUsdPerM: 9,
      default: false,
    },
    { name: 'unheard-of', provider: 'mine', default: false },
  ]);
  expect((await h.call('GET', '/v1/models', undefined, { key: h.b.apiKey })).json).toEqual({ items: [] });
});

it("lists the operator's model, which is the default where an organisation has none", async () => {
  const h = await makeHarness();
  const operator = { baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'hidden', model: 'gpt-4o-mini' };
  await h.secrets.put('model', JSON.stringify(operator));
  const answer = await h.call('GET', '/v1/models');
  expect(answer.json.items).toMatchObject([{ name: 'gpt-4o-mini', provider: 'operator', default: true }]);
  expect(answer.text).not.toMatch(/hidden|127\.0\.0\.1/);
});
