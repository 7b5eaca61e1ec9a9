import type { LocalQueue, LocalTable } from './assembly.ts';
import type { Reader, TemplateReader } from './reader.ts';

type Properties = { readonly [name: string]: unknown };

const pick = (source: Properties, ...names: readonly string[]): Properties =>
  Object.fromEntries(names.flatMap((name) => (source[name] === undefined ? [] : [[name, source[name]]])));

/** Tables of both resource types, as the input of `CreateTable`. Capacity ceilings mean nothing on one machine. */
export const readTables = (template: TemplateReader): LocalTable[] =>
  template.all('AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table').map((resource) => {
    resource.refuse('StreamSpecification', 'ImportSourceSpecification');
    const billing = resource.optionalText('BillingMode');
    if (billing !== 'PAY_PER_REQUEST') {
      throw resource.fail('BillingMode', `only PAY_PER_REQUEST is played locally, got ${billing ?? 'none'}.`);
    }
    const indexes = (name: string): readonly Properties[] =>
      resource.list(name).map((index) => pick(index, 'IndexName', 'KeySchema', 'Projection'));
    const global = indexes('GlobalSecondaryIndexes');
    const local = indexes('LocalSecondaryIndexes');
    return {
      logicalId: resource.logicalId,
      name: resource.ref,
      arn: resource.attribute('Arn'),
      definition: {
        TableName: resource.ref,
        KeySchema: resource.list('KeySchema'),
        AttributeDefinitions: resource.list('AttributeDefinitions'),
        BillingMode: billing,
        ...(global.length > 0 ? { GlobalSecondaryIndexes: global } : {}),
        ...(local.length > 0 ? { LocalSecondaryIndexes: local } : {}),
      },
      ttlAttribute: readTtl(resource),
    };
  });

const readTtl = (resource: Reader): string | undefined => {
  if (!resource.has('TimeToLiveSpecification')) return undefined;
  const { Enabled, AttributeName } = resource.record('TimeToLiveSpecification');
  if (Enabled !== true) return undefined;
  if (typeof AttributeName !== 'string') throw resource.fail('TimeToLiveSpecification.AttributeName', 'is missing.');
  return AttributeName;
};

const NUMBERS = [
  'DelaySeconds',
  'VisibilityTimeout',
  'MessageRetentionPeriod',
  'MaximumMessageSize',
  'ReceiveMessageWaitTimeSeconds',
] as const;
const FLAGS = ['FifoQueue', 'ContentBasedDeduplication'] as const;

export const readQueues = (template: TemplateReader): LocalQueue[] =>
  template.all('AWS::SQS::Queue').map((resource) => {
    const attributes: { [name: string]: string } = {};
    for (const name of NUMBERS) if (resource.has(name)) attributes[name] = String(resource.number(name, 0));
    for (const name of FLAGS) if (resource.has(name)) attributes[name] = String(resource.flag(name, false));
    for (const name of ['RedrivePolicy', 'RedriveAllowPolicy']) {
      if (resource.has(name)) attributes[name] = JSON.stringify(resource.record(name));
    }
    return {
      logicalId: resource.logicalId,
      name: resource.attribute('QueueName'),
      arn: resource.attribute('Arn'),
      url: resource.ref,
      attributes,
    };
  });

export const readBuckets = (template: TemplateReader) =>
  template.all('AWS::S3::Bucket').map((resource) => {
    resource.refuse('NotificationConfiguration');
    return { logicalId: resource.logicalId, name: resource.ref, arn: resource.attribute('Arn') };
  });
