import { describe, expect, it } from 'vitest';
import { pinnedConfig } from '../../lib/agent/agent.ts';
import { checkConfig, mergeConfig, parseConfig } from '../../lib/agent/config.ts';
import { type CONFIG_SCHEMAS, DEFAULTS } from '../../lib/agent/config-keys.ts';

const TOOLS = ['think', 'finish'];
const fieldsOf = (entries: { readonly [key: string]: unknown }): string[] => {
  try {
    checkConfig(entries, TOOLS);
    return [];
  } catch (error) {
    return (error as { details: { errors: { field: string }[] } }).details.errors.map(({ field }) => field);
  }
};

describe('a configuration', () => {
  it('has the defaults of the contract', () => {
    const { config, rest } = parseConfig({});
    expect(config).toMatchObject({
      maxIterations: 25,
      maxSteps: 1_000,
      maxCostUsd: 5,
      maxSeconds: 86_400,
      repeatLimit: 5,
      contextTokens: 24_000,
      permissionType: 'GOD_MODE',
    });
    expect(config).not.toHaveProperty('maxTokens');
    expect(config).not.toHaveProperty('tools');
    expect(rest).toEqual({});
    config.goals.push('mine');
    expect(DEFAULTS.goals).toEqual([]);
    expect(parseConfig({}).config.goals).toEqual([]);
  });

  it('has defaults that pass their own checks', () => {
    expect(fieldsOf(DEFAULTS)).toEqual([]);
  });

  it('keeps unknown keys as they are', () => {
    const odd = { LTM_DB: 'Pinecone', exit: null, nested: { a: [1, 2] }, constructor: 'x' };
    expect(fieldsOf(odd)).toEqual([]);
    expect(parseConfig({ ...odd, maxSteps: 3 })).toMatchObject({ rest: odd, config: { maxSteps: 3 } });
  });

  it.each<[keyof typeof CONFIG_SCHEMAS, unknown[]]>([
    ['goals', ['x', [1], null, ['']]],
    ['tools', ['think', ['fly'], [1]]],
    ['permissionTools', [['fly']]],
    ['model', ['', 5, null]],
    ['fallbackModels', ['m', [1]]],
    ['temperature', ['hot', -0.1, 2.1, null]],
    ['userTimezone', ['Mars/Olympus', 5, '']],
    ['knowledge', [5, {}]],
    ['maxIterations', ['many', 0, 1.5, -1, null, true]],
    ['maxSteps', [0]],
    ['maxReplyTokens', [0]],
    ['maxTokens', [0]],
    ['maxCostUsd', [-1, '5']],
    ['maxSeconds', [0, 31_536_001]],
    ['repeatLimit', [0]],
    ['contextTokens', [0]],
    ['stepDelaySeconds', [-1, 901, 0.5]],
    ['permissionType', ['god_mode', 1]],
    ['httpUnsafe', ['yes']],
    ['httpUnsafeHosts', ['a.example']],
  ])('refuses wrong values of %s, naming it', (key, values) => {
    for (const value of values) {
      const [field] = fieldsOf({ [key]: value });
      expect(field, JSON.stringify(value)).toMatch(new RegExp(`^config\\.${key}(\\[0\\])?$`));
    }
  });

  it('has a check for every known key in the table above and takes good values', () => {
    const good = {
      goals: ['a'],
      tools: ['think'],
      temperature: 0,
      userTimezone: 'Europe/Berlin',
      knowledge: ['k'],
      maxTokens: 1_000_000,
      maxCostUsd: 0,
      stepDelaySeconds: 0,
      permissionType: 'RESTRICTED',
      permissionTools: ['finish'],
      httpUnsafeHosts: ['a.example'],
    };
    expect(fieldsOf(good)).toEqual([]);
  });

  it.each(['', '_x', '1x', 'a b', 'a#b', 'a/b', 'x'.repeat(129), 'ü'])('has no key like %j', (key) => {
    expect(fieldsOf({ [key]: 1 })).toEqual([`config.${key}`]);
  });
});

describe('the configuration of a run', () => {
  it('is the agent’s, overridden key by key, and pinned', () => {
    const agent = { config: { goals: ['a'], maxSteps: 4, odd: 1 } };
    expect(mergeConfig(agent.config, { goals: ['b'] })).toEqual({ goals: ['b'], maxSteps: 4, odd: 1 });
    const pinned = pinnedConfig(agent, { goals: ['b'], more: [] });
    expect(pinned.entries).toEqual({ goals: ['b'], maxSteps: 4, odd: 1, more: [] });
    expect(pinned.config).toMatchObject({ goals: ['b'], maxSteps: 4, maxIterations: 25 });
    expect(pinned.rest).toEqual({ odd: 1, more: [] });
  });

  it('has to fit into one row', () => {
    const half = (key: string) => Object.fromEntries([1, 2].map((i) => [`${key}${i}`, 'x'.repeat(90_000)]));
    expect(() => pinnedConfig({ config: half('a') }, half('b'))).toThrow(/too large/);
  });
});
