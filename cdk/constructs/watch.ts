import { Duration } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IWidget,
  Metric,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { METRICS } from '../../lib/names.ts';
import { alarmOn } from './alarm.ts';
import type { PublicApi } from './public-api.ts';
import type { QueueWithDeadLetters } from './queue-with-dead-letters.ts';
import type { ServiceFunction } from './service-function.ts';

export interface WatchProps {
  /** `baton-<stage>`: also the dimension `service` of the application's own metrics. */
  readonly name: string;
  readonly email: string | undefined;
  readonly api: PublicApi;
  readonly queues: readonly QueueWithDeadLetters[];
  readonly functions: readonly ServiceFunction[];
  /** Alarms of the parts. */
  readonly alarms: readonly Alarm[];
}

/** What people look at: alarms on the application's own metrics, where all alarms go, and one dashboard. */
export class Watch extends Construct {
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, props: WatchProps) {
    super(scope, id);
    const own = (metricName: string) =>
      new Metric({
        namespace: METRICS.namespace,
        metricName,
        dimensionsMap: { service: props.name },
        statistic: 'sum',
        period: Duration.minutes(5),
      });
    this.alarms = [
      ...props.alarms,
      alarmOn(this, 'Stalled', {
        name: `${props.name}-stalled-chains`,
        description:
          'The sweep had to push executions that no longer moved, three rounds in a row: messages get lost or steps crash.',
        metric: own(METRICS.stalled),
        threshold: 1,
        periods: 3,
      }),
      alarmOn(this, 'Parked', {
        name: `${props.name}-parked-messages`,
        description:
          'A message or row that cannot be read was set aside under parked/ in the bucket; it waits there for a person.',
        metric: own(METRICS.parked),
        threshold: 1,
      }),
      alarmOn(this, 'PutOff', {
        name: `${props.name}-due-rows-put-off`,
        description:
          'The clock fails on rows again and again and puts them off: waits, retries or schedules may be late. The log of tick or sweep names the rows.',
        metric: own(METRICS.putOff),
        threshold: 1,
        periods: 3,
      }),
    ];
    if (props.email !== undefined) this.#mail(props.name, props.email);
    new Dashboard(this, 'Dashboard', {
      dashboardName: props.name,
      defaultInterval: Duration.hours(6),
      widgets: this.#widgets(props, own),
    });
  }

  #mail(name: string, email: string): void {
    const topic = new Topic(this, 'Topic', { topicName: `${name}-alarms`, enforceSSL: true });
    topic.addSubscription(new EmailSubscription(email));
    const action = new SnsAction(topic);
    for (const alarm of this.alarms) {
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
  }

  #widgets({ name, api, queues, functions }: WatchProps, own: (metric: string) => Metric): IWidget[][] {
    const graph = (title: string, left: Metric[], right: Metric[] = []) =>
      new GraphWidget({ title, left, right, width: 8, height: 6 });
    const stage = api.stage;
    return [
      [new TextWidget({ markdown: `# ${name}\nOne table, five queues, one step at a time.`, width: 24, height: 2 })],
      [new AlarmStatusWidget({ title: 'Alarms', alarms: [...this.alarms], width: 24, height: 5 })],
      [
        graph('Steps committed, chains pushed, messages parked, due rows put off', [
          own(METRICS.steps),
          own(METRICS.stalled),
          own(METRICS.parked),
          own(METRICS.putOff),
        ]),
        graph(
          'Messages waiting | age of the oldest, s',
          queues.map(({ queue }) => queue.metricApproximateNumberOfMessagesVisible()),
          queues.map(({ queue }) => queue.metricApproximateAgeOfOldestMessage()),
        ),
        graph(
          'Requests and refusals | latency p95, ms',
          [
            stage.metricCount({ statistic: 'SampleCount' }),
            stage.metricClientError({ statistic: 'sum' }),
            stage.metricServerError({ statistic: 'sum' }),
          ],
          [stage.metricLatency({ statistic: 'p95' })],
        ),
      ],
      [
        graph(
          'Invocations',
          functions.map(({ fn }) => fn.metricInvocations()),
        ),
        graph(
          'Errors | throttles',
          functions.map(({ fn }) => fn.metricErrors()),
          functions.map(({ fn }) => fn.metricThrottles()),
        ),
        graph(
          'Duration p95, ms',
          functions.map(({ fn }) => fn.metricDuration({ statistic: 'p95' })),
        ),
      ],
    ];
  }
}
