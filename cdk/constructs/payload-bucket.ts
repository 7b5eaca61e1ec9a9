import { Aws, Duration, Fn, RemovalPolicy } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { acknowledge } from '../nag.ts';

/** How long set-aside messages wait for a person. */
const PARKED_DAYS = 90;
/** As long as the table's point-in-time recovery reaches back: a restored row finds its object. */
const RECOVERY_DAYS = 35;

/** Files of executions and payloads too big for the table (`org/`), and messages nobody could read (`parked/`). */
export class PayloadBucket extends Construct {
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string, props: { readonly prefix: string }) {
    super(scope, id);
    this.bucket = new Bucket(this, 'Bucket', {
      // Bucket names are shared by all accounts, so account and Region are part of it.
      bucketName: Fn.join('-', [props.prefix, Aws.ACCOUNT_ID, Aws.REGION]),
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      // Keys are written once with one content; a version is the way back from a mistake by hand.
      versioned: true,
      lifecycleRules: [
        { id: 'unfinished-uploads', abortIncompleteMultipartUploadAfter: Duration.days(7) },
        { id: 'replaced-versions', noncurrentVersionExpiration: Duration.days(RECOVERY_DAYS) },
        { id: 'parked-messages', prefix: 'parked/', expiration: Duration.days(PARKED_DAYS) },
      ],
      removalPolicy: RemovalPolicy.RETAIN,
    });
    acknowledge(
      this.bucket,
      'AwsSolutions-S1',
      'Only the roles of this stack reach the bucket, by object key; a log bucket would be a second store to guard. Accounts that must prove every read turn on CloudTrail data events.',
    );
  }
}
