import { Duration } from 'aws-cdk-lib';
import { type Alarm, ComparisonOperator } from 'aws-cdk-lib/aws-cloudwatch';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { alarmOn } from './alarm.ts';

export interface QueueWithDeadLettersProps {
  readonly name: string;
  /** Time-out of the function that consumes the queue. */
  readonly consumerTimeout: Duration;
  /** Time-out of the function that consumes the dead letters. */
  readonly deadConsumerTimeout: Duration;
  /** Age of the oldest message at which somebody should look. */
  readonly oldestMessageAlarm: Duration;
}

/**
 * High, because waiting never wears a message out (a wait acknowledges it and sends a fresh one) and the attempts of a step
 * are counted in its row. What remains are crashes and throttled deliveries, which must not lose a good message.
 */
const MAX_RECEIVE_COUNT = 20;

/** AWS: visibility at least six times the function's time-out, or throttled deliveries come back while one still runs. */
export const visibilityFor = (timeout: Duration): Duration => Duration.seconds(timeout.toSeconds() * 6);

/** A standard queue and its dead-letter queue. The truth is in the table; a message is only a wake-up carrying ids. */
export class QueueWithDeadLetters extends Construct {
  readonly queue: Queue;
  readonly dead: Queue;
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, props: QueueWithDeadLettersProps) {
    super(scope, id);
    this.dead = new Queue(this, 'Dead', {
      queueName: `${props.name}-dead`,
      visibilityTimeout: visibilityFor(props.deadConsumerTimeout),
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    this.queue = new Queue(this, 'Queue', {
      queueName: props.name,
      visibilityTimeout: visibilityFor(props.consumerTimeout),
      retentionPeriod: Duration.days(4),
      deadLetterQueue: { queue: this.dead, maxReceiveCount: MAX_RECEIVE_COUNT },
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    this.alarms = [
      alarmOn(this, 'DeadLetters', {
        name: `${props.name}-dead-not-empty`,
        description: `A message of ${props.name} failed ${MAX_RECEIVE_COUNT} times. If it stays, the dead-letter function cannot deal with it either.`,
        metric: this.dead.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1), statistic: 'max' }),
        threshold: 0,
        comparison: ComparisonOperator.GREATER_THAN_THRESHOLD,
      }),
      alarmOn(this, 'OldestMessage', {
        name: `${props.name}-oldest-message`,
        description: `Messages of ${props.name} wait for more than ${props.oldestMessageAlarm.toMinutes()} minutes: its function fails, or more comes in than its concurrency takes.`,
        metric: this.queue.metricApproximateAgeOfOldestMessage({ period: Duration.minutes(5), statistic: 'max' }),
        threshold: props.oldestMessageAlarm.toSeconds(),
        comparison: ComparisonOperator.GREATER_THAN_THRESHOLD,
      }),
    ];
  }
}
