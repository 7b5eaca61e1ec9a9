import { Aws, Fn, Stack } from 'aws-cdk-lib';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { GrantResource, Grants } from '../grants.ts';
import { acknowledge } from '../nag.ts';

/** ARN of everything that a grant can name. */
export type GrantArns = { readonly [resource in GrantResource]: string };

/** ARN of an SSM parameter; `name` begins with a slash. */
export const parameterArn = (name: string): string =>
  Fn.join('', ['arn:', Aws.PARTITION, ':ssm:', Aws.REGION, ':', Aws.ACCOUNT_ID, ':parameter', name]);

/** The only resources that end in a wildcard, and why they must. */
const WILDCARD_REASONS: { readonly [resource in GrantResource]?: string } = {
  'bucket/org/*': 'Object keys begin with the organisation id and cannot be known when the stack is made.',
  'bucket/org/*/source/*': 'What providers sent: one object a delivery, under its organisation and source.',
  'bucket/parked/*': 'Write only; object keys are the day and the id of the message that was set aside.',
  'parameter/org/*': 'SecureStrings of organisations, made at run time under this prefix of the stage.',
  'parameter/org/*/provider/*': 'Read only; one SecureString a provider, made at run time under its organisation.',
  'parameter/org/*/webhook/*': 'Read only; one SecureString a webhook, made at run time under its organisation.',
  'parameter/org/*/source/*': 'Read only; one SecureString a source, made at run time under its organisation.',
};

/** One statement a row of the grant table, in its order. */
export function grant(role: Role, grants: Grants, arns: GrantArns): void {
  for (const [resource, actions] of Object.entries(grants) as [GrantResource, readonly string[]][]) {
    if (actions.length === 0) continue;
    role.addToPolicy(new PolicyStatement({ actions: [...actions], resources: [arns[resource]] }));
    const reason = WILDCARD_REASONS[resource];
    if (reason !== undefined) {
      acknowledge(role, `AwsSolutions-IAM5[Resource::${asNagPrints(Stack.of(role).resolve(arns[resource]))}]`, reason);
    }
  }
}

/** cdk-nag writes a reference as `<LogicalId>` and an attribute as `<LogicalId.Attribute>` in its findings. */
function asNagPrints(resolved: unknown): string {
  if (typeof resolved === 'string') return resolved;
  const { Ref: ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = resolved as Intrinsic;
  if (join !== undefined) return join[1].map(asNagPrints).join(join[0]);
  return `<${ref ?? attribute?.join('.')}>`;
}

interface Intrinsic {
  readonly Ref?: string;
  readonly 'Fn::GetAtt'?: readonly string[];
  readonly 'Fn::Join'?: readonly [string, readonly unknown[]];
}
