import type { LocalRole, LocalStatement } from './assembly.ts';
import type { Reader, TemplateReader } from './reader.ts';

/** Grants writing to CloudWatch Logs only, which no function calls by itself. */
const HARMLESS = /:iam::aws:policy\/service-role\/AWSLambdaBasicExecutionRole$/;

type Attach = (roleNames: readonly string[], statements: readonly LocalStatement[]) => void;

/** Roles with all statements of their inline policies and of the policies of this template that name them. */
export const readRoles = (template: TemplateReader): LocalRole[] => {
  const roles = template.all('AWS::IAM::Role').map((resource) => ({ resource, statements: ownStatements(resource) }));
  const attach: Attach = (names, statements) => {
    for (const { resource, statements: own } of roles) if (names.includes(resource.ref)) own.push(...statements);
  };
  const managed = new Map<string, readonly LocalStatement[]>();
  for (const policy of template.all('AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy')) {
    const statements = readDocument(policy, 'PolicyDocument', policy.record('PolicyDocument'));
    attach(policy.texts('Roles'), statements);
    if (policy.type === 'AWS::IAM::ManagedPolicy') managed.set(policy.ref, statements);
  }
  return roles.map(({ resource, statements }) => {
    for (const arn of resource.texts('ManagedPolicyArns')) {
      const known = managed.get(arn);
      // A policy that lives only in AWS cannot be judged here; a role that leans on it would pass or fail by chance.
      if (known === undefined && !HARMLESS.test(arn))
        throw resource.fail('ManagedPolicyArns', `${arn} is not known locally.`);
      statements.push(...(known ?? []));
    }
    return { logicalId: resource.logicalId, arn: resource.attribute('Arn'), statements };
  });
};

const ownStatements = (role: Reader): LocalStatement[] => {
  role.refuse('PermissionsBoundary');
  return role
    .list('Policies')
    .flatMap((policy, i) => readDocument(role, `Policies[${i}].PolicyDocument`, policy.PolicyDocument));
};

const texts = (value: unknown): readonly string[] | undefined => {
  const all = Array.isArray(value) ? value : [value];
  return all.every((item) => typeof item === 'string') ? (all as readonly string[]) : undefined;
};

const readDocument = (owner: Reader, where: string, document: unknown): LocalStatement[] => {
  const statements = (document as { readonly Statement?: unknown } | undefined)?.Statement;
  if (statements === undefined) throw owner.fail(where, 'has no Statement.');
  return (Array.isArray(statements) ? statements : [statements]).map((statement, i) =>
    readStatement(owner, `${where}.Statement[${i}]`, statement as { readonly [key: string]: unknown }),
  );
};

const readStatement = (
  owner: Reader,
  where: string,
  statement: { readonly [key: string]: unknown },
): LocalStatement => {
  for (const key of ['NotAction', 'NotResource', 'Principal', 'NotPrincipal']) {
    if (statement[key] !== undefined) throw owner.fail(`${where}.${key}`, 'is not judged by the local cloud.');
  }
  const effect = statement.Effect;
  if (effect !== 'Allow' && effect !== 'Deny') throw owner.fail(`${where}.Effect`, 'must be Allow or Deny.');
  const actions = texts(statement.Action);
  if (actions === undefined) throw owner.fail(`${where}.Action`, 'must be a text or a list of texts.');
  const resources = texts(statement.Resource);
  if (resources === undefined) throw owner.fail(`${where}.Resource`, 'must be a text or a list of texts.');
  return { effect, actions, resources, conditions: readConditions(owner, where, statement.Condition) };
};

const readConditions = (owner: Reader, where: string, conditions: unknown): LocalStatement['conditions'] => {
  const result: { [operator: string]: { [key: string]: readonly string[] } } = {};
  for (const [operator, keys] of Object.entries((conditions ?? {}) as { readonly [operator: string]: object })) {
    const judged: { [key: string]: readonly string[] } = {};
    for (const [key, value] of Object.entries(keys)) {
      const all = (Array.isArray(value) ? value : [value]).map(String);
      if (all.some((text) => text === '[object Object]')) {
        throw owner.fail(`${where}.Condition.${operator}.${key}`, 'must be a text or a list of texts.');
      }
      judged[key] = all;
    }
    result[operator] = judged;
  }
  return result;
};
