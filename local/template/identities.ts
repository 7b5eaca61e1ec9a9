import { createHash } from 'node:crypto';
import type { Identity, Resource } from './intrinsics.ts';

/** Where the local names, ARNs and URLs come from. */
export interface Place {
  readonly region: string;
  readonly account: string;
  readonly partition: string;
  readonly stackName: string;
  /** Address of the gateway without a slash at the end; queue URLs begin with it. */
  readonly gatewayUrl: string;
  /** Address of the HTTP API without a slash at the end. */
  readonly apiUrl: string;
}

/** A name that the template leaves to CloudFormation: stable for a stack and logical id, so that state survives a restart. */
const derived = (place: Place, logicalId: string, longest: number): string => {
  const name = `${place.stackName}-${logicalId}`;
  if (name.length <= longest) return name;
  const tail = createHash('sha256').update(name).digest('hex').slice(0, 12).toUpperCase();
  return `${name.slice(0, longest - 13)}-${tail}`;
};

/**
 * What `Ref` and `Fn::GetAtt` answer for a resource.
 * @param property resolves one property of the resource to a text (`undefined` when it is not set)
 */
export const identify = (
  place: Place,
  logicalId: string,
  resource: Resource,
  property: (name: string) => string | undefined,
): Identity => {
  const arn = (service: string, rest: string, global = false): string =>
    `arn:${place.partition}:${service}:${global ? '' : place.region}:${global ? '' : place.account}:${rest}`;
  switch (resource.Type) {
    case 'AWS::Lambda::Function': {
      const name = property('FunctionName') ?? derived(place, logicalId, 64);
      return { ref: name, attributes: { Arn: arn('lambda', `function:${name}`) } };
    }
    case 'AWS::DynamoDB::GlobalTable':
    case 'AWS::DynamoDB::Table': {
      const name = property('TableName') ?? derived(place, logicalId, 255);
      return { ref: name, attributes: { Arn: arn('dynamodb', `table/${name}`) } };
    }
    case 'AWS::SQS::Queue': {
      const name = property('QueueName') ?? derived(place, logicalId, 80);
      const url = `${place.gatewayUrl}/${place.account}/${name}`;
      return { ref: url, attributes: { Arn: arn('sqs', name), QueueName: name, QueueUrl: url } };
    }
    case 'AWS::S3::Bucket': {
      const name = property('BucketName') ?? derived(place, logicalId, 63).toLowerCase();
      return { ref: name, attributes: { Arn: `arn:${place.partition}:s3:::${name}` } };
    }
    case 'AWS::IAM::Role': {
      const name = property('RoleName') ?? derived(place, logicalId, 64);
      const roleArn = `arn:${place.partition}:iam::${place.account}:role/${name}`;
      return { ref: name, attributes: { Arn: roleArn } };
    }
    case 'AWS::Events::EventBus': {
      const name = property('Name') ?? derived(place, logicalId, 256);
      return { ref: name, attributes: { Arn: arn('events', `event-bus/${name}`), Name: name } };
    }
    case 'AWS::Events::Rule': {
      const name = property('Name') ?? derived(place, logicalId, 64);
      const bus = busNameOf(property('EventBusName'));
      const path = bus === 'default' ? name : `${bus}/${name}`;
      return { ref: bus === 'default' ? name : `${bus}|${name}`, attributes: { Arn: arn('events', `rule/${path}`) } };
    }
    case 'AWS::Logs::LogGroup': {
      const name = property('LogGroupName') ?? `/${derived(place, logicalId, 512)}`;
      return { ref: name, attributes: { Arn: arn('logs', `log-group:${name}:*`) } };
    }
    case 'AWS::ApiGatewayV2::Api': {
      const id = createHash('sha256')
        .update(derived(place, logicalId, 512))
        .digest('hex')
        .slice(0, 10);
      return { ref: id, attributes: { ApiId: id, ApiEndpoint: place.apiUrl } };
    }
    case 'AWS::SNS::Topic': {
      const name = property('TopicName') ?? derived(place, logicalId, 256);
      return { ref: arn('sns', name), attributes: { TopicArn: arn('sns', name), TopicName: name } };
    }
    case 'AWS::SSM::Parameter':
      return { ref: property('Name') ?? derived(place, logicalId, 1011), attributes: {} };
    case 'AWS::ApiGatewayV2::Integration':
    case 'AWS::IAM::ManagedPolicy':
      return { ref: logicalId, attributes: {} };
    default:
      return { ref: undefined, attributes: {} };
  }
};

/** `EventBusName` may be a name or an ARN; the bus that every account has is `default`. */
export const busNameOf = (nameOrArn: string | undefined): string =>
  nameOrArn === undefined ? 'default' : nameOrArn.slice(nameOrArn.lastIndexOf('/') + 1);
