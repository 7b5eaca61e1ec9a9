/**
 * What the local cloud knows of the app: read from the synthesized template and nowhere else. All references (`Ref`,
 * `Fn::GetAtt`, `Fn::Join`, `Fn::Sub`) are resolved to local names, ARNs and URLs.
 */
export interface Assembly {
  readonly functions: readonly LocalFunction[];
  readonly tables: readonly LocalTable[];
  readonly queues: readonly LocalQueue[];
  readonly buckets: readonly { readonly logicalId: string; readonly name: string; readonly arn: string }[];
  readonly buses: readonly { readonly logicalId: string; readonly name: string; readonly arn: string }[];
  readonly rules: readonly LocalRule[];
  readonly eventSourceMappings: readonly LocalEventSourceMapping[];
  readonly routes: readonly LocalRoute[];
  readonly roles: readonly LocalRole[];
  /** AWS::Lambda::Permission: who may invoke which function. */
  readonly permissions: readonly {
    readonly functionArn: string;
    readonly principal: string;
    readonly sourceArn: string | undefined;
  }[];
  readonly outputs: { readonly [name: string]: string };
}

export interface LocalFunction {
  readonly logicalId: string;
  /** The real function name, e.g. `baton-dev-step`. */
  readonly name: string;
  readonly arn: string;
  readonly roleLogicalId: string;
  /** Absolute folder of the bundle (`aws:asset:path`). */
  readonly codeDir: string;
  readonly handler: string;
  readonly environment: { readonly [name: string]: string };
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

export interface LocalTable {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  /** `CreateTable` input in the shape of the DynamoDB API (KeySchema, AttributeDefinitions, GlobalSecondaryIndexes). */
  readonly definition: { readonly [key: string]: unknown };
  readonly ttlAttribute: string | undefined;
}

export interface LocalQueue {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly url: string;
  /** Queue attributes as strings, as `CreateQueue` takes them (VisibilityTimeout, RedrivePolicy with resolved ARN, …). */
  readonly attributes: { readonly [name: string]: string };
}

export interface LocalRule {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly busName: string;
  /** `rate(1 minute)` and its like; absent for pattern rules. */
  readonly schedule: string | undefined;
  readonly pattern: { readonly [key: string]: unknown } | undefined;
  readonly enabled: boolean;
  readonly targets: readonly { readonly arn: string; readonly input: string | undefined }[];
}

export interface LocalEventSourceMapping {
  readonly logicalId: string;
  readonly queueArn: string;
  readonly functionArn: string;
  readonly batchSize: number;
  /** `MaximumBatchingWindowInSeconds`: so long a poller gathers messages for one invocation. */
  readonly windowSeconds: number;
  readonly maxConcurrency: number | undefined;
  readonly reportsBatchItemFailures: boolean;
  readonly enabled: boolean;
}

export interface LocalRoute {
  /** `ANY /{proxy+}`, `POST /ingest/{sourceId}`, `$default`. */
  readonly routeKey: string;
  readonly functionArn: string;
  /** What API Gateway names as the source when it invokes; a permission must match it. */
  readonly sourceArn: string;
  readonly apiId: string;
  /** Integration time-out, milliseconds. */
  readonly timeoutMs: number;
}

export interface LocalRole {
  readonly logicalId: string;
  readonly arn: string;
  readonly statements: readonly LocalStatement[];
}

export interface LocalStatement {
  readonly effect: 'Allow' | 'Deny';
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly conditions: { readonly [operator: string]: { readonly [key: string]: readonly string[] } };
}
