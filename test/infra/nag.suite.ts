import { App, Stack } from 'aws-cdk-lib';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, it } from 'vitest';
import { CONFIG_KEYS } from '../../cdk/config.ts';
import { acknowledge, checkWithNag } from '../../cdk/nag.ts';
import { scratch } from './scratch.ts';
import { appIn } from './synthesized.ts';

function checked(): { app: App; stack: Stack } {
  const app = new App({ outdir: scratch() });
  checkWithNag(app);
  return { app, stack: new Stack(app, 'S') };
}

describe('cdk-nag', () => {
  it('finds nothing in the app that is not acknowledged', () => {
    expect(() => appIn(scratch()).synth()).not.toThrow();
  });

  it('finds nothing with every setting in use', () => {
    const context = {
      stage: 'prod',
      region: 'eu-central-1',
      alarmEmail: 'ops@example.com',
      egressAllow: '10.0.0.1:80',
    };
    expect(CONFIG_KEYS).toEqual(expect.arrayContaining(Object.keys(context)));
    expect(() => appIn(scratch(), { context }).synth()).not.toThrow();
  });

  it('makes synth throw when there is a finding', () => {
    const { app, stack } = checked();
    new Queue(stack, 'Plain');
    expect(() => app.synth()).toThrow(/S\/Plain\/Resource[\s\S]*AwsSolutions-SQS4/);
  });

  it('lets an acknowledged finding pass, that one and on that construct only', () => {
    const accepted = checked();
    const queue = new Queue(accepted.stack, 'Plain', { enforceSSL: true });
    acknowledge(queue, 'AwsSolutions-SQS3', 'test');
    expect(() => accepted.app.synth()).not.toThrow();

    const other = checked();
    acknowledge(new Queue(other.stack, 'One', { enforceSSL: true }), 'AwsSolutions-SQS3', 'test');
    new Queue(other.stack, 'Two', { enforceSSL: true });
    expect(() => other.app.synth()).toThrow(/S\/Two\/Resource[\s\S]*AwsSolutions-SQS3/);
  });

  it('accepts nothing by an id that does not match', () => {
    const { app, stack } = checked();
    acknowledge(new Bucket(stack, 'Open', { enforceSSL: true }), 'AwsSolutions-S10', 'test');
    expect(() => app.synth()).toThrow(/AwsSolutions-S1'/);
  });
});
