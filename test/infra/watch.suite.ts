import { describe, expect, it } from 'vitest';
import { FUNCTION_SPECS } from '../../cdk/functions.ts';
import { FUNCTIONS, METRICS, OUTPUTS } from '../../lib/names.ts';
import { app, flat, type Json, Synthesized } from './synthesized.ts';

const alarm = (name: string) => app.named('AWS::CloudWatch::Alarm', 'AlarmName', `baton-dev-${name}`).properties;

describe('alarms', () => {
  it.each(FUNCTIONS)('watch errors and throttles of %s, and say what people notice', (name) => {
    const dimensions = [{ Name: 'FunctionName', Value: { Ref: app.fn(name).id } }];
    expect(alarm(`${name}-errors`)).toMatchObject({
      Namespace: 'AWS/Lambda',
      MetricName: 'Errors',
      Dimensions: dimensions,
    });
    expect(alarm(`${name}-throttles`)).toMatchObject({ MetricName: 'Throttles', Dimensions: dimensions });
    expect(String(alarm(`${name}-errors`).AlarmDescription).length).toBeGreaterThan(40);
  });

  it('watch for loops that Lambda cuts, on all functions that must be in none', () => {
    const names = app
      .of('AWS::CloudWatch::Alarm')
      .filter(([, { Properties }]) => String(Properties.MetricName) === 'RecursiveInvocationsDropped')
      .map(([, { Properties }]) => Properties.AlarmName);
    const others = FUNCTIONS.filter((name) => FUNCTION_SPECS[name].recursive !== true);
    expect(names.toSorted()).toEqual(others.map((name) => `baton-dev-${name}-recursion-dropped`).toSorted());
  });

  it.each(['steps', 'effects', 'inbox', 'assess'])('ring when %s has a dead letter or an old message', (queue) => {
    expect(alarm(`${queue}-dead-not-empty`)).toMatchObject({
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [app.queue(`${queue}-dead`).id, 'QueueName'] } }],
      Statistic: 'Maximum',
      Threshold: 0,
      ComparisonOperator: 'GreaterThanThreshold',
    });
    expect(alarm(`${queue}-oldest-message`)).toMatchObject({
      MetricName: 'ApproximateAgeOfOldestMessage',
      Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [app.queue(queue).id, 'QueueName'] } }],
      Threshold: 3_600,
    });
  });

  it('ring for events that failed and for 5xx answers', () => {
    expect(alarm('events-dead-not-empty')).toMatchObject({ Threshold: 0, ComparisonOperator: 'GreaterThanThreshold' });
    expect(alarm('api-5xx')).toMatchObject({ MetricName: '5xx', Namespace: 'AWS/ApiGateway' });
  });

  it.each([
    ['stalled-chains', METRICS.stalled],
    ['parked-messages', METRICS.parked],
    ['due-rows-put-off', METRICS.putOff],
  ])('%s looks at the metric %s that the functions write', (name, metric) => {
    expect(alarm(name)).toMatchObject({
      Namespace: METRICS.namespace,
      MetricName: metric,
      Dimensions: [{ Name: 'service', Value: 'baton-dev' }],
      Statistic: 'Sum',
      Threshold: 1,
    });
    expect(app.fn('sweep').properties.Environment?.Variables?.POWERTOOLS_SERVICE_NAME).toBe('baton-dev');
  });

  it('take silence for health', () => {
    for (const [, { Properties }] of app.of('AWS::CloudWatch::Alarm')) {
      expect(Properties.TreatMissingData).toBe('notBreaching');
    }
  });

  it('go nowhere without an address, and all of them to the address where there is one', () => {
    expect(app.of('AWS::SNS::Topic')).toEqual([]);
    const mailed = new Synthesized({ context: { alarmEmail: 'ops@example.com' } });
    const [topic] = mailed.of('AWS::SNS::Topic')[0] ?? [];
    expect(mailed.of('AWS::SNS::Subscription')[0]?.[1].Properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'ops@example.com',
    });
    const alarms = mailed.of('AWS::CloudWatch::Alarm');
    expect(alarms).toHaveLength(app.of('AWS::CloudWatch::Alarm').length);
    for (const [, { Properties }] of alarms) expect(Properties.AlarmActions).toEqual([{ Ref: topic }]);
  });
});

describe('the dashboard', () => {
  it('is one and shows the alarms and the metrics of the application', () => {
    const dashboards = app.of('AWS::CloudWatch::Dashboard');
    expect(dashboards).toHaveLength(1);
    const body = flat(dashboards[0]?.[1].Properties.DashboardBody);
    for (const metric of [METRICS.steps, METRICS.stalled, METRICS.parked]) expect(body).toContain(metric);
    for (const name of FUNCTIONS) expect(body).toContain(`<${app.fn(name).id}>`);
    expect(JSON.parse(body.replace(/<[^>]*>/g, 'x')).widgets.length).toBeGreaterThan(7);
  });
});

describe('outputs', () => {
  it('are what the scripts read', () => {
    const outputs: Record<string, { Value: Json }> = app.template.toJSON().Outputs;
    expect(Object.keys(outputs).toSorted()).toEqual(Object.values(OUTPUTS).toSorted());
    expect(outputs[OUTPUTS.apiUrl]?.Value).toEqual({
      'Fn::GetAtt': [app.of('AWS::ApiGatewayV2::Api')[0]?.[0], 'ApiEndpoint'],
    });
    expect(outputs[OUTPUTS.bootstrapFunction]?.Value).toEqual({ Ref: app.fn('bootstrap').id });
  });
});
