import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  EventSourceMapping,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { FunctionSpec } from '../functions.ts';
import { alarmOn } from './alarm.ts';

export interface ServiceFunctionProps {
  /** The whole name, such as `baton-dev-step`. */
  readonly name: string;
  readonly spec: FunctionSpec;
  /** Dimension of the application's own metrics, the same for all functions of a stage. */
  readonly service: string;
  /** Folder with `index.mjs`. */
  readonly codeFolder: string;
  readonly environment: { readonly [variable: string]: string };
  readonly logRetentionDays: RetentionDays;
}

/** One deployed function with its own log group and its own role, which begins with nothing but writing to that group. */
/** Messages of one invocation, and how long a poller waits for more of them. */
export interface Batch {
  readonly size: number;
  readonly window?: Duration;
}

const ONE_BY_ONE: Batch = { size: 1 };

export class ServiceFunction extends Construct {
  readonly fn: LambdaFunction;
  readonly role: Role;
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const logGroup = new LogGroup(this, 'Logs', {
      logGroupName: `/aws/lambda/${props.name}`,
      retention: props.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: `Role of ${props.name}`,
    });
    this.role.addToPolicy(
      new PolicyStatement({
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [logGroup.logGroupArn],
      }),
    );
    this.fn = new LambdaFunction(this, 'Function', {
      functionName: props.name,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code: Code.fromAsset(props.codeFolder),
      memorySize: props.spec.memoryMb,
      timeout: Duration.seconds(props.spec.timeoutSeconds),
      environment: {
        ...props.environment,
        NODE_OPTIONS: '--enable-source-maps',
        // Powertools reads it for the dimension `service` of every metric and log line.
        POWERTOOLS_SERVICE_NAME: props.service,
      },
      role: this.role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      // Without Lambda's own lines about an invocation that ended well (docs/adr/0032); time-outs and crashes are WARN.
      // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
      systemLogLevelV2: SystemLogLevel.WARN,
      ...(props.spec.recursive ? { recursiveLoop: RecursiveLoop.ALLOW } : {}),
    });
    this.alarms = this.alarmsOf(props);
  }

  /** Feeds the function from a queue, one message an invocation or a few; the grants to receive are in `cdk/grants.ts`. */
  consume(id: string, queue: IQueue, maxConcurrency: number, batch: Batch = ONE_BY_ONE): void {
    new EventSourceMapping(this, id, {
      target: this.fn,
      eventSourceArn: queue.queueArn,
      batchSize: batch.size,
      ...(batch.window !== undefined && { maxBatchingWindow: batch.window }),
      reportBatchItemFailures: true,
      // Reserved concurrency would not slow the pollers: throttled messages wear out and land among the dead letters.
      maxConcurrency,
    }).node.addDependency(this.role);
  }

  private alarmsOf({ name, spec }: ServiceFunctionProps): Alarm[] {
    const period = Duration.minutes(5);
    return [
      alarmOn(this, 'Errors', {
        name: `${name}-errors`,
        description: `${name} throws or runs into its time-out. ${spec.impact}`,
        metric: this.fn.metricErrors({ period }),
        threshold: 3,
      }),
      alarmOn(this, 'Throttles', {
        name: `${name}-throttles`,
        description: `${name} is refused for want of concurrency in the account. ${spec.impact}`,
        metric: this.fn.metricThrottles({ period }),
        threshold: 1,
        periods: 3,
      }),
      // Lambda reports chains it cut only for functions that do not allow their loop.
      ...(spec.recursive
        ? []
        : [
            alarmOn(this, 'RecursionDropped', {
              name: `${name}-recursion-dropped`,
              description: `Lambda cut a loop through ${name}, which should be in none. ${spec.impact}`,
              metric: this.fn.metric('RecursiveInvocationsDropped', { period, statistic: 'sum' }),
              threshold: 1,
            }),
          ]),
    ];
  }
}
