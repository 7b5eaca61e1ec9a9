import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { CONFIG_KEYS, stageConfig } from '../../cdk/config.ts';

const read = (context: { readonly [key: string]: unknown } = {}) => stageConfig(new App({ context }).node);

describe('stage configuration', () => {
  it('has a default for everything but Region and address', () => {
    expect(read()).toEqual({
      stage: 'dev',
      tableReadCeiling: 4_000,
      tableWriteCeiling: 1_000,
      stepConcurrency: 10,
      effectConcurrency: 5,
      fireConcurrency: 5,
      resolveConcurrency: 5,
      assessConcurrency: 5,
      auditDays: 400,
      logRetentionDays: 30,
      apiRate: 50,
      apiBurst: 100,
      ingestRate: 20,
      ingestBurst: 40,
      stepDelaySeconds: 2,
      leaseSeconds: 30,
      egressAllow: '',
    });
  });

  it('takes text for numbers, as the command line gives it', () => {
    expect(
      read({ stage: 'prod', stepConcurrency: '100', region: 'eu-central-1', alarmEmail: 'ops@example.com' }),
    ).toMatchObject({
      stage: 'prod',
      stepConcurrency: 100,
      region: 'eu-central-1',
      alarmEmail: 'ops@example.com',
    });
  });

  it('takes what is committed for the stage, and the command line above it', () => {
    const stages = { prod: { stepConcurrency: 200, apiRate: 500 }, test: { apiRate: 5 } };
    expect(read({ stages, stage: 'prod', apiRate: '7' })).toMatchObject({ stepConcurrency: 200, apiRate: 7 });
    expect(read({ stages })).toMatchObject({ stepConcurrency: 10, apiRate: 50 });
  });

  it.each([
    ['stage', 'Prod'],
    ['stage', 'a'.repeat(21)],
    ['stage', ''],
    ['stage', 7],
    ['region', 'Frankfurt'],
    ['tableReadCeiling', '0'],
    ['tableWriteCeiling', '40001'],
    ['stepConcurrency', '1'],
    ['stepConcurrency', '1001'],
    ['stepConcurrency', '2.5'],
    ['effectConcurrency', 'many'],
    ['effectConcurrency', ''],
    ['logRetentionDays', '31'],
    ['apiRate', '-1'],
    ['apiBurst', true],
    ['ingestRate', null],
    ['ingestBurst', {}],
    ['alarmEmail', 'ops'],
    ['stepDelaySeconds', '901'],
    ['leaseSeconds', '4'],
    ['leaseSeconds', '601'],
    ['egressAllow', 'example.com'],
    ['egressAllow', 'http://example.com:80'],
  ])('refuses %s = %j and names the field', (field, value) => {
    expect(() => read({ [field]: value })).toThrow(new RegExp(`^  ${field}: .*-c ${field}=`, 'm'));
  });

  it('names all faults at once', () => {
    expect(() => read({ apiRate: 'x', apiBurst: 'y' })).toThrow(/apiRate[\s\S]*apiBurst/);
  });

  it('refuses settings that do not exist, where it can tell them from other context', () => {
    expect(() => read({ stage: 'prod', stages: { prod: { stepConcurency: 3 } } })).toThrow(/stepConcurency/);
    expect(() => read({ stages: ['prod'] })).toThrow(/"stages" must map/);
    expect(() => read({ stages: { prod: 3 } })).toThrow(/"stages" must map/);
  });

  it('lists its keys for those who write them down', () => {
    expect(CONFIG_KEYS).toContain('stage');
    expect(new Set(CONFIG_KEYS).size).toBe(CONFIG_KEYS.length);
  });
});
