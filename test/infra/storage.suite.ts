import { describe, expect, it } from 'vitest';
import { app, Synthesized } from './synthesized.ts';

describe('the table', () => {
  const tables = [...app.of('AWS::DynamoDB::GlobalTable'), ...app.of('AWS::DynamoDB::Table')];
  const table = tables[0]?.[1];

  it('is one', () => {
    expect(tables).toHaveLength(1);
  });

  it('has pk and sk, and two indexes that hold keys only', () => {
    expect(table?.Properties).toMatchObject({
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'byOwner',
          KeySchema: [
            { AttributeName: 'ownerPk', KeyType: 'HASH' },
            { AttributeName: 'ownerSk', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
        {
          IndexName: 'due',
          KeySchema: [
            { AttributeName: 'duePk', KeyType: 'HASH' },
            { AttributeName: 'dueSk', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    });
    const attributes = table?.Properties.AttributeDefinitions as unknown as { AttributeType: string }[];
    expect(attributes.map(({ AttributeType }) => AttributeType)).toEqual(['S', 'S', 'S', 'S', 'S', 'S']);
  });

  it('can be brought back to any moment, forgets what has expired and cannot be deleted by accident', () => {
    expect(table?.Properties.TimeToLiveSpecification).toEqual({ AttributeName: 'ttl', Enabled: true });
    expect(table?.Properties.Replicas).toMatchObject([
      {
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        DeletionProtectionEnabled: true,
      },
    ]);
  });

  it('is paid by request, with a ceiling', () => {
    expect(table?.Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      WriteOnDemandThroughputSettings: { MaxWriteRequestUnits: 1_000 },
      Replicas: [{ ReadOnDemandThroughputSettings: { MaxReadRequestUnits: 4_000 } }],
    });
    const other = new Synthesized({ context: { tableReadCeiling: 11, tableWriteCeiling: 12 } });
    expect(other.named('AWS::DynamoDB::GlobalTable', 'TableName', 'baton-dev').properties).toMatchObject({
      WriteOnDemandThroughputSettings: { MaxWriteRequestUnits: 12 },
      Replicas: [{ ReadOnDemandThroughputSettings: { MaxReadRequestUnits: 11 } }],
    });
  });

  it('stays when the stack goes or the table would be replaced', () => {
    expect(table).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });
});

describe('the bucket', () => {
  const buckets = app.of('AWS::S3::Bucket');
  const [id, bucket] = buckets[0] ?? [];

  it('is one, named after stage, account and Region, and stays when the stack goes', () => {
    expect(buckets).toHaveLength(1);
    expect(bucket).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        BucketName: { 'Fn::Join': ['-', ['baton-dev', { Ref: 'AWS::AccountId' }, { Ref: 'AWS::Region' }]] },
      },
    });
  });

  it('is closed to the public, encrypted, versioned, and answers over TLS only', () => {
    expect(bucket?.Properties).toMatchObject({
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
      OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
      VersioningConfiguration: { Status: 'Enabled' },
    });
    const [, policy] = app.of('AWS::S3::BucketPolicy')[0] ?? [];
    expect(policy?.Properties.Bucket).toEqual({ Ref: id });
    expect(policy?.Properties.PolicyDocument?.Statement).toMatchObject([
      { Effect: 'Deny', Action: 's3:*', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
    ]);
  });

  it('drops unfinished uploads, replaced versions and, after a season, parked messages; files of executions never', () => {
    expect(bucket?.Properties.LifecycleConfiguration?.Rules).toEqual([
      { Id: 'unfinished-uploads', Status: 'Enabled', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 } },
      { Id: 'replaced-versions', Status: 'Enabled', NoncurrentVersionExpiration: { NoncurrentDays: 35 } },
      { Id: 'parked-messages', Status: 'Enabled', Prefix: 'parked/', ExpirationInDays: 90 },
    ]);
  });
});
