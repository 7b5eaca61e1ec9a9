import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';

export interface AlarmProps {
  readonly name: string;
  /** What it means and what people notice: this text is the e-mail. */
  readonly description: string;
  readonly metric: IMetric;
  readonly threshold: number;
  readonly comparison?: ComparisonOperator;
  /** Periods in a row; default 1. */
  readonly periods?: number;
}

/** An alarm that takes silence for health: these metrics have no points when nothing happens. */
export function alarmOn(scope: Construct, id: string, props: AlarmProps): Alarm {
  return new Alarm(scope, id, {
    alarmName: props.name,
    alarmDescription: props.description,
    metric: props.metric,
    threshold: props.threshold,
    evaluationPeriods: props.periods ?? 1,
    comparisonOperator: props.comparison ?? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
}
