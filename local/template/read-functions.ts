import { isAbsolute, join } from 'node:path';
import type { LocalEventSourceMapping, LocalFunction, LocalRoute } from './assembly.ts';
import type { Place } from './identities.ts';
import type { Reader, TemplateReader } from './reader.ts';

/** @param templateDir folder of the template; asset paths are relative to it */
export const readFunctions = (template: TemplateReader, templateDir: string): LocalFunction[] => {
  const roleByArn = new Map(template.all('AWS::IAM::Role').map((role) => [role.attribute('Arn'), role.logicalId]));
  return template.all('AWS::Lambda::Function').map((resource) => {
    resource.refuse('Layers', 'VpcConfig', 'ImageConfig', 'FileSystemConfigs', 'DurableConfig');
    const runtime = resource.text('Runtime');
    if (runtime !== 'nodejs24.x') throw resource.fail('Runtime', `${runtime} is not played locally, only nodejs24.x.`);
    const asset = resource.metadata['aws:asset:path'];
    if (typeof asset !== 'string') throw resource.fail('Code', 'has no asset folder (Metadata "aws:asset:path").');
    const role = roleByArn.get(resource.text('Role'));
    if (role === undefined) throw resource.fail('Role', 'is no role of this template.');
    return {
      logicalId: resource.logicalId,
      name: resource.ref,
      arn: resource.attribute('Arn'),
      roleLogicalId: role,
      codeDir: isAbsolute(asset) ? asset : join(templateDir, asset),
      handler: resource.text('Handler'),
      environment: readEnvironment(resource),
      // Lambda's own defaults.
      timeoutSeconds: resource.number('Timeout', 3),
      memoryMb: resource.number('MemorySize', 128),
    };
  });
};

const readEnvironment = (resource: Reader): { readonly [name: string]: string } => {
  if (!resource.has('Environment')) return {};
  const variables = resource.record('Environment').Variables ?? {};
  const entries = Object.entries(variables).map(([name, value]): [string, string] => {
    if (typeof value === 'string') return [name, value];
    if (typeof value === 'number' || typeof value === 'boolean') return [name, String(value)];
    throw resource.fail(`Environment.Variables.${name}`, `expected a text, got ${typeof value}.`);
  });
  return Object.fromEntries(entries);
};

/** `FunctionName` of mappings and permissions may be a name, an ARN or a qualified ARN. */
const functionArn = (resource: Reader, functions: readonly LocalFunction[]): string => {
  const given = resource.text('FunctionName');
  const found = functions.find(({ name, arn }) => given === name || given === arn || given.startsWith(`${arn}:`));
  if (found === undefined) throw resource.fail('FunctionName', `${given} is no function of this template.`);
  return found.arn;
};

export const readEventSourceMappings = (
  template: TemplateReader,
  functions: readonly LocalFunction[],
): LocalEventSourceMapping[] =>
  template.all('AWS::Lambda::EventSourceMapping').map((resource) => {
    resource.refuse('FilterCriteria', 'ProvisionedPollerConfig', 'DestinationConfig');
    const source = resource.text('EventSourceArn');
    if (!/^arn:[^:]+:sqs:/.test(source)) throw resource.fail('EventSourceArn', `${source} is no SQS queue.`);
    const scaling = resource.has('ScalingConfig') ? resource.record('ScalingConfig').MaximumConcurrency : undefined;
    return {
      logicalId: resource.logicalId,
      queueArn: source,
      functionArn: functionArn(resource, functions),
      batchSize: resource.number('BatchSize', 10),
      windowSeconds: resource.number('MaximumBatchingWindowInSeconds', 0),
      maxConcurrency: scaling === undefined ? undefined : Number(scaling),
      reportsBatchItemFailures: resource.texts('FunctionResponseTypes').includes('ReportBatchItemFailures'),
      enabled: resource.flag('Enabled', true),
    };
  });

export const readPermissions = (template: TemplateReader, functions: readonly LocalFunction[]) =>
  template.all('AWS::Lambda::Permission').map((resource) => {
    resource.refuse('EventSourceToken', 'PrincipalOrgID', 'FunctionUrlAuthType');
    const action = resource.text('Action');
    if (action !== 'lambda:InvokeFunction') throw resource.fail('Action', `${action} is not played locally.`);
    return {
      functionArn: functionArn(resource, functions),
      principal: resource.text('Principal'),
      sourceArn: resource.optionalText('SourceArn'),
    };
  });

export const readRoutes = (template: TemplateReader, place: Place): LocalRoute[] => {
  const integrations = new Map(template.all('AWS::ApiGatewayV2::Integration').map((one) => [one.logicalId, one]));
  return template.all('AWS::ApiGatewayV2::Route').map((resource) => {
    const authorization = resource.optionalText('AuthorizationType') ?? 'NONE';
    if (authorization !== 'NONE') throw resource.fail('AuthorizationType', `${authorization} is not played locally.`);
    const target = resource.text('Target');
    const integration = integrations.get(target.replace(/^integrations\//, ''));
    if (integration === undefined) throw resource.fail('Target', `${target} is no integration of this template.`);
    return routeOf(resource, integration, place);
  });
};

const routeOf = (resource: Reader, integration: Reader, place: Place): LocalRoute => {
  integration.refuse('RequestParameters', 'ResponseParameters', 'CredentialsArn');
  const type = integration.text('IntegrationType');
  if (type !== 'AWS_PROXY') throw integration.fail('IntegrationType', `${type} is not played locally.`);
  const version = integration.optionalText('PayloadFormatVersion');
  if (version !== '2.0') throw integration.fail('PayloadFormatVersion', 'only 2.0 is played locally.');
  const routeKey = resource.text('RouteKey');
  const [method, path] = routeKey === '$default' ? ['*', '/$default'] : routeKey.split(' ');
  const source = `${resource.text('ApiId')}/$default/${method === 'ANY' ? '*' : method}${path ?? ''}`;
  return {
    routeKey,
    functionArn: integration.text('IntegrationUri'),
    sourceArn: `arn:${place.partition}:execute-api:${place.region}:${place.account}:${source}`,
    apiId: resource.text('ApiId'),
    timeoutMs: integration.number('TimeoutInMillis', 30_000),
  };
};
