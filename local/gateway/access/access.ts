import type { Assembly } from '../../template/assembly.ts';
import { AwsError, errorResponse } from '../aws-error.ts';
import type { AwsRequest, AwsResponse } from '../aws-request.ts';
import type { Principal } from '../principal.ts';
import { bucketArn } from './arns.ts';
import { asksOf } from './asks.ts';
import { LeadingKeys } from './asks-dynamodb.ts';
import { s3Target } from './asks-s3.ts';
import { type Ask, type Decision, deniedSentence, Policy } from './policy.ts';
import { Usage, type UsageReport } from './usage.ts';

export interface Access {
  /** @throws AwsError AccessDenied, in the service's words, at the first thing that is not allowed */
  check(principal: Principal, request: AwsRequest): void;
  /** Who may not list a bucket does not learn from S3 that an object is missing: 404 becomes 403, as on AWS. */
  hideMissing(principal: Principal, request: AwsRequest, response: AwsResponse): AwsResponse;
  usage(): UsageReport;
}

/** Whether what a role's policies allow stands at this moment: a test takes a grant away, and gives it back, while the cloud runs. */
export type Stands = (role: string, ask: Pick<Ask, 'action' | 'resource'>) => boolean;

export function createAccess(
  assembly: Assembly,
  principals: readonly Principal[],
  stands: Stands = () => true,
): Access {
  const leading = new LeadingKeys(assembly.tables);
  const usage = new Usage();
  const policies = new Map(
    principals.map((principal) => {
      usage.add(principal.name, principal.statements);
      return [principal.accessKeyId, new Policy(principal.statements)];
    }),
  );
  const policyOf = (principal: Principal): Policy => policies.get(principal.accessKeyId) ?? new Policy([]);
  const decide = (principal: Principal, ask: Ask): Decision => {
    const decision = policyOf(principal).decide(ask);
    return decision.allowed && !stands(principal.name, ask) ? { allowed: false, explicit: false } : decision;
  };

  return {
    check(principal, request) {
      if (principal.statements === 'everything') return;
      for (const ask of asksOf(request, principal.arn, leading)) {
        const decision = decide(principal, ask);
        if (!decision.allowed) {
          usage.refused(principal.name, ask);
          throw denied(request, deniedSentence(principal.arn, ask, decision.explicit));
        }
        usage.granted(principal.name, decision.by);
      }
    },
    hideMissing(principal, request, response) {
      if (request.service !== 's3' || response.status !== 404 || principal.statements === 'everything') return response;
      if (request.operation !== 'GetObject' && request.operation !== 'HeadObject') return response;
      const { bucket } = s3Target(request);
      const ask: Ask = { action: 's3:ListBucket', resource: bucketArn(bucket), context: new Map() };
      const decision = decide(principal, ask);
      if (decision.allowed) {
        usage.granted(principal.name, decision.by);
        return response;
      }
      return errorResponse('s3', denied(request, deniedSentence(principal.arn, ask, decision.explicit)));
    },
    usage: () => usage.report(),
  };
}

function denied({ service }: AwsRequest, message: string): AwsError {
  if (service === 's3') return new AwsError('AccessDenied', message, { status: 403 });
  const status = service === 'sqs' || service === 'lambda' ? 403 : 400;
  return new AwsError('AccessDeniedException', message, { status, queryCode: 'AccessDenied' });
}
