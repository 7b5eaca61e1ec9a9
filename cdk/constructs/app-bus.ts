import { Duration } from 'aws-cdk-lib';
import { type Alarm, ComparisonOperator } from 'aws-cdk-lib/aws-cloudwatch';
import { EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { CfnEventInvokeConfig, type IFunction } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { BUS } from '../../lib/names.ts';
import { acknowledge } from '../nag.ts';
import { alarmOn } from './alarm.ts';

export interface AppBusProps {
  readonly name: string;
}

/** The bus: `Run Agent` comes in, `Execution Status Changed` goes out. */
export class AppBus extends Construct {
  readonly bus: EventBus;
  /** Events that could not be delivered or that the function failed on. People look at these; nothing consumes them. */
  readonly dead: Queue;
  readonly alarms: readonly Alarm[];
  readonly #name: string;

  constructor(scope: Construct, id: string, props: AppBusProps) {
    super(scope, id);
    this.#name = props.name;
    this.bus = new EventBus(this, 'Bus', { eventBusName: props.name, description: 'Baton: Run Agent in, status out' });
    this.dead = new Queue(this, 'Dead', {
      queueName: `${props.name}-events-dead`,
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    acknowledge(
      this.dead,
      'AwsSolutions-SQS3',
      'It is a dead-letter queue: of a rule target and of asynchronous invocations, where cdk-nag does not look.',
    );
    this.alarms = [
      alarmOn(this, 'DeadEvents', {
        name: `${props.name}-events-dead-not-empty`,
        description: 'An event of type "Run Agent" could not be handled: the run it asked for was not started.',
        metric: this.dead.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1), statistic: 'max' }),
        threshold: 0,
        comparison: ComparisonOperator.GREATER_THAN_THRESHOLD,
      }),
    ];
  }

  /** Sends events of type `Run Agent`, whatever their source, to the function; what fails for good goes to `dead`. */
  runAgentsWith(handler: IFunction): void {
    new Rule(this, 'RunAgent', {
      ruleName: `${this.#name}-run-agent`,
      eventBus: this.bus,
      eventPattern: { detailType: [BUS.runAgent] },
      targets: [new LambdaFunction(handler, { deadLetterQueue: this.dead })],
    });
    // As L1: the L2 destination would add grants to the role that cdk/grants.ts does not list.
    new CfnEventInvokeConfig(this, 'RunAgentFailures', {
      functionName: handler.functionName,
      qualifier: '$LATEST',
      maximumRetryAttempts: 2,
      destinationConfig: { onFailure: { destination: this.dead.queueArn } },
    });
  }
}
