import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  type CfnStage,
  HttpApi,
  HttpMethod,
  type HttpRoute,
  HttpStage,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { acknowledge } from '../nag.ts';
import { alarmOn } from './alarm.ts';

interface Throttle {
  /** Requests a second. */
  readonly rate: number;
  readonly burst: number;
}

export interface PublicApiProps {
  readonly name: string;
  readonly handler: IFunction;
  /** Takes what providers send. */
  readonly ingest: IFunction;
  readonly throttle: Throttle;
  readonly ingestThrottle: Throttle;
  readonly logRetentionDays: RetentionDays;
}

const INGEST = { path: '/ingest/{sourceId}', key: 'POST /ingest/{sourceId}' } as const;

/** One line a request. No query string and no header: both can carry a secret. */
const ACCESS_LOG = AccessLogFormat.custom(
  JSON.stringify({
    requestId: '$context.requestId',
    time: '$context.requestTime',
    ip: '$context.identity.sourceIp',
    method: '$context.httpMethod',
    path: '$context.path',
    route: '$context.routeKey',
    status: '$context.status',
    bytes: '$context.responseLength',
    latencyMs: '$context.responseLatency',
    integrationStatus: '$context.integrationStatus',
    integrationLatencyMs: '$context.integrationLatency',
    integrationError: '$context.integrationErrorMessage',
  }),
);

/** The HTTP API in front of the `api` and the `ingest` function. See docs/adr/0013-no-authorizer.md and 0016-http-api.md. */
export class PublicApi extends Construct {
  readonly api: HttpApi;
  readonly stage: HttpStage;
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, props: PublicApiProps) {
    super(scope, id);
    this.api = new HttpApi(this, 'Api', { apiName: props.name, createDefaultStage: false });
    const integration = new HttpLambdaIntegration('Function', props.handler, { timeout: Duration.seconds(29) });
    const ingest = this.api.addRoutes({
      path: INGEST.path,
      methods: [HttpMethod.POST],
      integration: new HttpLambdaIntegration('Ingest', props.ingest, { timeout: Duration.seconds(9) }),
    });
    const rest = [
      // `{proxy+}` does not match the empty path.
      ...this.api.addRoutes({ path: '/', methods: [HttpMethod.ANY], integration }),
      ...this.api.addRoutes({ path: '/{proxy+}', methods: [HttpMethod.ANY], integration }),
    ];
    this.stage = this.stageOf(props, ingest);
    for (const route of ingest) {
      acknowledge(
        route,
        'AwsSolutions-APIG4',
        'The providers sign what they send; the ingest function checks the signature over the raw body.',
      );
    }
    for (const route of rest) {
      acknowledge(
        route,
        'AwsSolutions-APIG4',
        'The api function checks the bearer key of every request, so that each refusal is problem+json and a revoked key is known within 30 s.',
      );
    }
    this.alarms = [
      alarmOn(this, 'ServerErrors', {
        name: `${props.name}-api-5xx`,
        description:
          'The HTTP API answers 5xx: the api function fails or does not answer within 29 s, or the ingest function within 9 s.',
        metric: this.stage.metricServerError({ period: Duration.minutes(5), statistic: 'sum' }),
        threshold: 5,
      }),
    ];
  }

  private stageOf(props: PublicApiProps, ingest: readonly HttpRoute[]): HttpStage {
    const logGroup = new LogGroup(this, 'AccessLog', {
      logGroupName: `/aws/apigateway/${props.name}`,
      retention: props.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const stage = new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: props.throttle.rate, burstLimit: props.throttle.burst },
      accessLogSettings: { destination: new LogGroupLogDestination(logGroup), format: ACCESS_LOG },
    });
    // The L2 knows no settings of single routes. A setting for a route that does not exist yet fails the deployment.
    const cfn = stage.node.defaultChild as CfnStage;
    cfn.routeSettings = {
      [INGEST.key]: {
        ThrottlingRateLimit: props.ingestThrottle.rate,
        ThrottlingBurstLimit: props.ingestThrottle.burst,
      },
    };
    stage.node.addDependency(...ingest);
    return stage;
  }
}
