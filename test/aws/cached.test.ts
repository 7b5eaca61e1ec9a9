import { describe, expect, it } from 'vitest';
import { cachedSecrets } from '../../lib/aws/cached.ts';
import type { Secrets } from '../../lib/kernel/ports.ts';
import { makeFakeClock } from '../support/fake-clock.ts';
import { makeMemorySecrets } from '../support/memory-secrets.ts';

const NAME = 'org_1/openai';

describe('cached secrets', () => {
  it('reads a secret once in five minutes', async () => {
    const clock = makeFakeClock();
    const store = makeMemorySecrets({ [NAME]: 'old' });
    const secrets = cachedSecrets(store, clock);
    expect(await secrets.get(NAME)).toBe('old');
    await store.put(NAME, 'new'); // by another process
    await clock.advance(299_999);
    expect(await secrets.get(NAME)).toBe('old');
    expect(store.reads()).toBe(1);
    await clock.advance(1);
    expect(await secrets.get(NAME)).toBe('new');
    expect(store.reads()).toBe(2);
  });

  it('believes "none" for thirty seconds only', async () => {
    const clock = makeFakeClock();
    const store = makeMemorySecrets();
    const secrets = cachedSecrets(store, clock);
    expect(await secrets.get(NAME)).toBeUndefined();
    expect(await secrets.get(NAME)).toBeUndefined();
    expect(store.reads()).toBe(1);
    await store.put(NAME, 'value');
    await clock.advance(30_000);
    expect(await secrets.get(NAME)).toBe('value');
  });

  it('sees its own changes at once', async () => {
    const secrets = cachedSecrets(makeMemorySecrets({ [NAME]: 'old' }), makeFakeClock());
    expect(await secrets.get(NAME)).toBe('old');
    await secrets.put(NAME, 'new');
    expect(await secrets.get(NAME)).toBe('new');
    await secrets.delete(NAME);
    expect(await secrets.get(NAME)).toBeUndefined();
  });

  it('forgets all on demand, for whoever was refused with one', async () => {
    const store = makeMemorySecrets({ [NAME]: 'old', other: 'kept' });
    const secrets = cachedSecrets(store, makeFakeClock());
    await secrets.get(NAME);
    await secrets.get('other');
    await store.put(NAME, 'new');
    secrets.forgetAll();
    expect([await secrets.get(NAME), await secrets.get('other')]).toEqual(['new', 'kept']);
    expect(store.reads()).toBe(4);
  });

  it('shares one read among those who ask at the same time', async () => {
    const store = makeMemorySecrets({ [NAME]: 'value' });
    const secrets = cachedSecrets(store, makeFakeClock());
    expect(await Promise.all([secrets.get(NAME), secrets.get(NAME), secrets.get(NAME)])).toEqual(
      Array(3).fill('value'),
    );
    expect(store.reads()).toBe(1);
  });

  it('does not keep a failure', async () => {
    const store = makeMemorySecrets({ [NAME]: 'value' });
    let failures = 1;
    const failing: Secrets = {
      ...store,
      get: (name) => (failures-- > 0 ? Promise.reject(new Error('throttled')) : store.get(name)),
    };
    const secrets = cachedSecrets(failing, makeFakeClock());
    await expect(secrets.get(NAME)).rejects.toThrow('throttled');
    expect(await secrets.get(NAME)).toBe('value');
  });

  it('does not keep what was read while it was being replaced', async () => {
    const store = makeMemorySecrets({ [NAME]: 'old' });
    let release: () => void = () => {};
    const slow: Secrets = {
      ...store,
      async get(name) {
        const value = await store.get(name);
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return value;
      },
    };
    const secrets = cachedSecrets(slow, makeFakeClock());
    const early = secrets.get(NAME);
    await Promise.resolve(); // lets the slow read take the old value
    await secrets.put(NAME, 'new');
    release();
    expect(await early).toBe('old');
    const late = secrets.get(NAME);
    await Promise.resolve();
    await Promise.resolve();
    release();
    expect(await late).toBe('new');
  });

  it('holds a thousand at most', async () => {
    const store = makeMemorySecrets();
    const secrets = cachedSecrets(store, makeFakeClock());
    for (let n = 0; n <= 1000; n++) await secrets.get(`secret-${n}`);
    await secrets.get('secret-1000');
    expect(store.reads()).toBe(1001);
    await secrets.get('secret-0');
    expect(store.reads()).toBe(1002);
  });
});
