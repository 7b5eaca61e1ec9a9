import { randomBytes } from 'node:crypto';
import type { Principal } from '../gateway/principal.ts';
import { LOCAL } from '../names.ts';
import type { LocalRole, LocalStatement } from '../template/assembly.ts';

export interface Principals {
  readonly all: readonly Principal[];
  /** The person at the keyboard: `npm run bootstrap -- --local` and the like. */
  readonly operator: Principal;
  /** @throws Error for a role that is not in the template */
  ofRole(logicalId: string): Principal;
}

/** One fresh key pair for each role and one for the operator. They open nothing but this gateway, until it ends. */
export const makePrincipals = (roles: readonly LocalRole[]): Principals => {
  const principal = (name: string, arn: string, statements: readonly LocalStatement[] | 'everything'): Principal => ({
    accessKeyId: `AKIA${randomBytes(8).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString('base64'),
    arn,
    name,
    statements,
  });
  const operator = principal('operator', `arn:${LOCAL.partition}:iam::${LOCAL.account}:user/operator`, 'everything');
  const byRole = new Map(roles.map((role) => [role.logicalId, principal(role.logicalId, role.arn, role.statements)]));
  return {
    all: [operator, ...byRole.values()],
    operator,
    ofRole(logicalId) {
      const found = byRole.get(logicalId);
      if (found === undefined) throw new Error(`There is no role ${logicalId} in the template.`);
      return found;
    },
  };
};
