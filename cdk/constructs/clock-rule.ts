import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';

export interface ClockRuleProps {
  readonly name: string;
  readonly every: Duration;
  readonly handler: IFunction;
}

/**
 * Calls a function again and again. A round that was missed is not made up: the next one sees all that is due, and a
 * backlog of old rounds would only crowd it.
 */
export class ClockRule extends Construct {
  constructor(scope: Construct, id: string, props: ClockRuleProps) {
    super(scope, id);
    new Rule(this, 'Rule', {
      ruleName: props.name,
      schedule: Schedule.rate(props.every),
      targets: [new LambdaFunction(props.handler, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
    });
    props.handler.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
  }
}
