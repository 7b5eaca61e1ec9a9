import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costMicroUsd, priceOf, worstCaseMicroUsd } from '../../lib/model/prices.ts';

const price = { inputUsdPerM: 2, cachedUsdPerM: 0.5, outputUsdPerM: 8, contextTokens: 1_000 };

describe('priceOf', () => {
  it('knows models and their dated snapshots, and nothing by guess', () => {
    expect(priceOf('gpt-4o-mini')).toMatchObject({ inputUsdPerM: 0.15, outputUsdPerM: 0.6 });
    expect(priceOf('gpt-4o-2024-08-06')).toEqual(priceOf('gpt-4o'));
    expect(priceOf('baton-rehearsal')).toMatchObject({ inputUsdPerM: 0, outputUsdPerM: 0 });
    for (const unknown of ['gpt-4o-turbo-x', 'my-model', '', 'toString', '__proto__']) {
      expect(priceOf(unknown), unknown).toBeUndefined();
    }
  });

  it("lets an organisation's own entry win", () => {
    const own = [{ name: 'gpt-4o', contextTokens: 9, inputUsdPerM: 1, outputUsdPerM: 3 }];
    expect(priceOf('gpt-4o', own)).toEqual({ inputUsdPerM: 1, cachedUsdPerM: 1, outputUsdPerM: 3, contextTokens: 9 });
    expect(priceOf('gpt-4.1', own)).toMatchObject({ inputUsdPerM: 2 });
  });
});

describe('costs', () => {
  it('are whole micro-dollars, rounded up', () => {
    expect(costMicroUsd({ input: 1_000_000, output: 1_000_000, cached: 0 }, price)).toBe(10_000_000);
    expect(costMicroUsd({ input: 100, output: 10, cached: 60 }, price)).toBe(40 * 2 + 30 + 80);
    expect(costMicroUsd({ input: 1, output: 0, cached: 1 }, price)).toBe(1);
    expect(costMicroUsd({ input: 0, output: 0, cached: 0 }, price)).toBe(0);
    expect(costMicroUsd({ input: 3, output: 0, cached: 0 }, { ...price, inputUsdPerM: 0.1 })).toBe(1);
    expect(costMicroUsd({ input: 30, output: 0, cached: 0 }, { ...price, inputUsdPerM: 0.1 })).toBe(3);
    expect(costMicroUsd({ input: 5, output: 0, cached: 50 }, price)).toBe(3);
  });

  it('never exceed the worst case of the same call', () => {
    const count = fc.nat(2_000_000);
    fc.assert(
      fc.property(count, count, fc.nat(), (input, output, cachedSeed) => {
        const cached = input === 0 ? 0 : cachedSeed % input;
        const cost = costMicroUsd({ input, output, cached }, price);
        return Number.isSafeInteger(cost) && cost <= worstCaseMicroUsd(input, output, price);
      }),
    );
  });
});
