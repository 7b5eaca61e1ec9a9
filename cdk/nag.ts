/** The gate of cdk-nag: an unacknowledged finding makes `app.synth()` throw. */
import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';

export function checkWithNag(app: App): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}

/**
 * Accepts one finding on one construct and what is below it. `Validations.acknowledge` refuses ids that hold more than one
 * `::`, as those with an ARN in them do, so the record it would keep is written here.
 *
 * @param finding as cdk-nag prints it, such as `AwsSolutions-IAM5[Resource::<Bucket.Arn>/org/*]`
 */
export function acknowledge(scope: IConstruct, finding: string, reason: string): void {
  scope.node.addMetadata(Validations.ACKNOWLEDGED_RULES_METADATA_KEY, { [finding]: reason });
}
