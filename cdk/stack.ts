/** Composes the constructs; defines no resource itself. */
import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { ENV, FUNCTIONS, type FunctionName, OUTPUTS, RULES, TABLE } from '../lib/names.ts';
import type { Bundles } from './bundle.ts';
import type { StageConfig } from './config.ts';
import { AppBus } from './constructs/app-bus.ts';
import { ClockRule } from './constructs/clock-rule.ts';
import { type GrantArns, grant, parameterArn } from './constructs/grant.ts';
import { PayloadBucket } from './constructs/payload-bucket.ts';
import { PublicApi } from './constructs/public-api.ts';
import { QueueWithDeadLetters } from './constructs/queue-with-dead-letters.ts';
import { ServiceFunction } from './constructs/service-function.ts';
import { StateTable } from './constructs/state-table.ts';
import { Watch } from './constructs/watch.ts';
import { FUNCTION_SPECS } from './functions.ts';
import { GRANTS } from './grants.ts';

export interface BatonStackProps extends StackProps {
  readonly config: StageConfig;
  readonly code: Bundles['folders'];
  /** Another grant table, for tests that take a grant away. */
  readonly grants?: typeof GRANTS;
}

export class BatonStack extends Stack {
  readonly #config: StageConfig;
  readonly #name: string;

  constructor(scope: Construct, id: string, props: BatonStackProps) {
    super(scope, id, props);
    this.#config = props.config;
    this.#name = `baton-${props.config.stage}`;
    const parameters = { model: `/baton/${props.config.stage}/model`, prefix: `/baton/${props.config.stage}` };

    const { table } = new StateTable(this, 'State', {
      name: this.#name,
      maxReadRequestUnits: props.config.tableReadCeiling,
      maxWriteRequestUnits: props.config.tableWriteCeiling,
    });
    const { bucket } = new PayloadBucket(this, 'Payloads', { prefix: this.#name });
    const steps = this.#queue('Steps', 'steps', 'step');
    const effects = this.#queue('Effects', 'effects', 'effect');
    const fires = this.#queue('Fires', 'fires', 'fire');
    const inbox = this.#queue('Inbox', 'inbox', 'resolve');
    const assess = this.#queue('Assessments', 'assess', 'assess');
    const bus = new AppBus(this, 'Events', { name: this.#name });

    const functions = this.#functions(props.code, {
      stage: props.config.stage,
      table: table.tableName,
      bucket: bucket.bucketName,
      stepQueueUrl: steps.queue.queueUrl,
      effectQueueUrl: effects.queue.queueUrl,
      fireQueueUrl: fires.queue.queueUrl,
      inboxQueueUrl: inbox.queue.queueUrl,
      assessQueueUrl: assess.queue.queueUrl,
      bus: bus.bus.eventBusName,
      stepDelaySeconds: String(props.config.stepDelaySeconds),
      leaseSeconds: String(props.config.leaseSeconds),
      egressAllow: props.config.egressAllow,
      auditDays: String(props.config.auditDays),
      modelParameter: parameters.model,
      secretPrefix: parameters.prefix,
    });
    const arns: GrantArns = {
      table: table.tableArn,
      'table/index/byOwner': `${table.tableArn}/index/${TABLE.byOwner.index}`,
      'table/index/due': `${table.tableArn}/index/${TABLE.due.index}`,
      stepQueue: steps.queue.queueArn,
      effectQueue: effects.queue.queueArn,
      stepDeadQueue: steps.dead.queueArn,
      effectDeadQueue: effects.dead.queueArn,
      fireQueue: fires.queue.queueArn,
      fireDeadQueue: fires.dead.queueArn,
      inboxQueue: inbox.queue.queueArn,
      inboxDeadQueue: inbox.dead.queueArn,
      assessQueue: assess.queue.queueArn,
      assessDeadQueue: assess.dead.queueArn,
      eventDeadQueue: bus.dead.queueArn,
      bucket: bucket.bucketArn,
      'bucket/org/*': bucket.arnForObjects('org/*'),
      'bucket/org/*/source/*': bucket.arnForObjects('org/*/source/*'),
      'bucket/parked/*': bucket.arnForObjects('parked/*'),
      bus: bus.bus.eventBusArn,
      'parameter/model': parameterArn(parameters.model),
      'parameter/org/*': parameterArn(`${parameters.prefix}/org/*`),
      'parameter/org/*/provider/*': parameterArn(`${parameters.prefix}/org/*/provider/*`),
      'parameter/org/*/webhook/*': parameterArn(`${parameters.prefix}/org/*/webhook/*`),
      'parameter/org/*/source/*': parameterArn(`${parameters.prefix}/org/*/source/*`),
    };
    for (const name of FUNCTIONS) grant(functions[name].role, (props.grants ?? GRANTS)[name], arns);

    functions.step.consume('Steps', steps.queue, props.config.stepConcurrency);
    functions.effect.consume('Effects', effects.queue, props.config.effectConcurrency);
    functions['dead-letter'].consume('DeadSteps', steps.dead, DEAD_LETTER_CONCURRENCY);
    functions['dead-letter'].consume('DeadEffects', effects.dead, DEAD_LETTER_CONCURRENCY);
    functions.fire.consume('Fires', fires.queue, props.config.fireConcurrency, FIRE_BATCH);
    functions['dead-letter'].consume('DeadFires', fires.dead, DEAD_LETTER_CONCURRENCY);
    functions.resolve.consume('Inbox', inbox.queue, props.config.resolveConcurrency);
    functions['dead-letter'].consume('DeadInbox', inbox.dead, DEAD_LETTER_CONCURRENCY);
    functions.assess.consume('Assess', assess.queue, props.config.assessConcurrency);
    functions['dead-letter'].consume('DeadAssess', assess.dead, DEAD_LETTER_CONCURRENCY);
    bus.runAgentsWith(functions['run-agent'].fn);
    this.#clock('Tick', RULES.tick, Duration.minutes(1), functions.tick);
    this.#clock('Sweep', RULES.sweep, Duration.minutes(5), functions.sweep);

    const api = new PublicApi(this, 'Http', {
      name: this.#name,
      handler: functions.api.fn,
      ingest: functions.ingest.fn,
      throttle: { rate: props.config.apiRate, burst: props.config.apiBurst },
      ingestThrottle: { rate: props.config.ingestRate, burst: props.config.ingestBurst },
      logRetentionDays: props.config.logRetentionDays,
    });
    const all = FUNCTIONS.map((name) => functions[name]);
    new Watch(this, 'Watch', {
      name: this.#name,
      email: props.config.alarmEmail,
      api,
      queues: [steps, effects, fires, inbox, assess],
      functions: all,
      alarms: [steps, effects, fires, inbox, assess, bus, api, ...all].flatMap((part) => part.alarms),
    });
    new CfnOutput(this, OUTPUTS.apiUrl, { value: api.api.apiEndpoint, description: 'Address of the HTTP API' });
    new CfnOutput(this, OUTPUTS.bootstrapFunction, {
      value: functions.bootstrap.fn.functionName,
      description: 'Invoke it through IAM to make an organisation: npm run bootstrap -- --organisation NAME',
    });
  }

  #queue(id: string, part: string, consumer: FunctionName): QueueWithDeadLetters {
    return new QueueWithDeadLetters(this, id, {
      name: `${this.#name}-${part}`,
      consumerTimeout: Duration.seconds(FUNCTION_SPECS[consumer].timeoutSeconds),
      deadConsumerTimeout: Duration.seconds(FUNCTION_SPECS['dead-letter'].timeoutSeconds),
      oldestMessageAlarm: OLDEST_MESSAGE,
    });
  }

  #functions(code: Bundles['folders'], values: { readonly [name in keyof typeof ENV]: string }) {
    const made = FUNCTIONS.map((name) => {
      const spec = FUNCTION_SPECS[name];
      const variables = (['stage', 'table', ...spec.env] as const).map((key) => [ENV[key], values[key]] as const);
      const service = new ServiceFunction(this, pascal(name), {
        name: `${this.#name}-${name}`,
        service: this.#name,
        spec,
        codeFolder: code[name],
        environment: Object.fromEntries(variables),
        logRetentionDays: this.#config.logRetentionDays,
      });
      return [name, service] as const;
    });
    return Object.fromEntries(made) as Record<FunctionName, ServiceFunction>;
  }

  #clock(id: string, rule: string, every: Duration, handler: ServiceFunction): void {
    new ClockRule(this, `${id}Clock`, { name: `${this.#name}-${rule}`, every, handler: handler.fn });
  }
}

/** Dead letters are few and each may write a reason for people; two at once is the least a mapping takes. */
const DEAD_LETTER_CONCURRENCY = 2;

/**
 * Fires are short and come in herds: everybody's schedule is due on the hour. Their messages come two seconds early, so that
 * a poller has time to gather them, and few processes have all of them in hand when their second comes.
 */
const FIRE_BATCH = { size: 50, window: Duration.seconds(1) };

/** A step's delay is at most 15 minutes and a wait acknowledges its message, so an hour means that nothing consumes. */
const OLDEST_MESSAGE = Duration.hours(1);

const pascal = (name: string): string =>
  name.replace(/(^|-)([a-z])/g, (_all, _dash, letter: string) => letter.toUpperCase());
