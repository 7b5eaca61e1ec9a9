import { describe, expect, it } from 'vitest';
import { app, flat, Synthesized } from './synthesized.ts';

const [apiId, api] = app.of('AWS::ApiGatewayV2::Api')[0] ?? [];
const [, stage] = app.of('AWS::ApiGatewayV2::Stage')[0] ?? [];

const functionOf = (routeKey: string) => app.fn(routeKey.includes('/ingest/') ? 'ingest' : 'api').id;

describe('the HTTP API', () => {
  it('is one, of the HTTP kind, with one stage at its root', () => {
    expect(app.of('AWS::ApiGatewayV2::Api')).toHaveLength(1);
    expect(api?.Properties.ProtocolType).toBe('HTTP');
    expect(app.of('AWS::ApiGatewayV2::Stage')).toHaveLength(1);
    expect(stage?.Properties).toMatchObject({ StageName: '$default', AutoDeploy: true });
  });

  it('sends what providers deliver to the ingest function and everything else to the api function', () => {
    const routes = app.of('AWS::ApiGatewayV2::Route').map(([, { Properties }]) => Properties);
    expect(routes.map((route) => route.RouteKey).toSorted()).toEqual([
      'ANY /',
      'ANY /{proxy+}',
      'POST /ingest/{sourceId}',
    ]);
    for (const route of routes) {
      const integration = flat(route.Target).replace(/^integrations\/<(.*)>$/, '$1');
      expect(app.resources[integration]?.Properties).toMatchObject({
        IntegrationType: 'AWS_PROXY',
        PayloadFormatVersion: '2.0',
        IntegrationUri: { 'Fn::GetAtt': [functionOf(flat(route.RouteKey)), 'Arn'] },
      });
    }
  });

  it('lets no page of another origin in', () => {
    expect(api?.Properties).not.toHaveProperty('CorsConfiguration');
  });

  it('has no authorizer: the api function refuses, as problem+json', () => {
    expect(app.of('AWS::ApiGatewayV2::Authorizer')).toEqual([]);
    for (const [, { Properties }] of app.of('AWS::ApiGatewayV2::Route'))
      expect(Properties.AuthorizationType).toBe('NONE');
  });

  it('waits less for a function than the function may take', () => {
    const integrations = app.of('AWS::ApiGatewayV2::Integration').map(([, i]) => i.Properties.TimeoutInMillis);
    expect(integrations).toEqual([9_000, 29_000]);
    expect(app.fn('api').properties.Timeout).toBe(30);
    expect(app.fn('ingest').properties.Timeout).toBe(10);
  });

  it('may invoke each function from the routes that lead to it, and from no other', () => {
    const sources = app
      .of('AWS::Lambda::Permission')
      .filter(([, { Properties }]) => String(Properties.Principal) === 'apigateway.amazonaws.com')
      .map(([, { Properties }]) => `${flat(Properties.FunctionName)} ${flat(Properties.SourceArn)}`);
    const arn = (name: 'api' | 'ingest') => `<${app.fn(name).id}.Arn>`;
    const prefix = `arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<${apiId}>/*/*`;
    expect(sources.toSorted()).toEqual(
      [
        `${arn('api')} ${prefix}/`,
        `${arn('ingest')} ${prefix}/ingest/{sourceId}`,
        `${arn('api')} ${prefix}/{proxy+}`,
      ].toSorted(),
    );
  });

  it('throttles all routes, and ingest by itself', () => {
    expect(stage?.Properties).toMatchObject({
      DefaultRouteSettings: { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 },
      RouteSettings: { 'POST /ingest/{sourceId}': { ThrottlingRateLimit: 20, ThrottlingBurstLimit: 40 } },
    });
    const routes = (stage?.DependsOn ?? []).map((id) => app.resources[id]?.Properties.RouteKey);
    expect(routes).toContain('POST /ingest/{sourceId}');
  });

  it('follows the stage configuration', () => {
    const other = new Synthesized({ context: { apiRate: 1, apiBurst: 2, ingestRate: 3, ingestBurst: 4 } });
    expect(other.of('AWS::ApiGatewayV2::Stage')[0]?.[1].Properties).toMatchObject({
      DefaultRouteSettings: { ThrottlingRateLimit: 1, ThrottlingBurstLimit: 2 },
      RouteSettings: { 'POST /ingest/{sourceId}': { ThrottlingRateLimit: 3, ThrottlingBurstLimit: 4 } },
    });
  });

  it('logs every request as JSON, without headers and query strings', () => {
    const group = app.named('AWS::Logs::LogGroup', 'LogGroupName', '/aws/apigateway/baton-dev');
    expect(group.properties.RetentionInDays).toBe(30);
    const settings = stage?.Properties.AccessLogSettings;
    expect(flat(settings?.DestinationArn)).toContain(group.id);
    const format: Record<string, string> = JSON.parse(settings?.Format as unknown as string);
    expect(Object.keys(format)).toEqual(expect.arrayContaining(['requestId', 'method', 'path', 'status', 'latencyMs']));
    expect(JSON.stringify(format)).not.toMatch(/header|querystring|authorizer/i);
  });
});
