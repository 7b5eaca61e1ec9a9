import type { LocalRule } from './assembly.ts';
import { busNameOf } from './identities.ts';
import type { TemplateReader } from './reader.ts';

export const readBuses = (template: TemplateReader) =>
  template.all('AWS::Events::EventBus').map((resource) => ({
    logicalId: resource.logicalId,
    name: resource.ref,
    arn: resource.attribute('Arn'),
  }));

export const readRules = (template: TemplateReader): LocalRule[] =>
  template.all('AWS::Events::Rule').map((resource) => {
    const busName = busNameOf(resource.optionalText('EventBusName'));
    const ref = resource.ref;
    return {
      logicalId: resource.logicalId,
      name: ref.slice(ref.indexOf('|') + 1),
      arn: resource.attribute('Arn'),
      busName,
      schedule: resource.optionalText('ScheduleExpression'),
      pattern: resource.has('EventPattern') ? resource.record('EventPattern') : undefined,
      enabled: (resource.optionalText('State') ?? 'ENABLED') !== 'DISABLED',
      targets: resource.list('Targets').map((target, i) => {
        for (const key of ['InputPath', 'InputTransformer', 'RoleArn']) {
          if (target[key] !== undefined)
            throw resource.fail(`Targets[${i}].${key}`, 'is not played by the local cloud.');
        }
        const { Arn, Input } = target;
        if (typeof Arn !== 'string') throw resource.fail(`Targets[${i}].Arn`, 'is missing.');
        if (!/^arn:[^:]+:lambda:/.test(Arn)) throw resource.fail(`Targets[${i}].Arn`, `${Arn} is no function.`);
        if (Input !== undefined && typeof Input !== 'string')
          throw resource.fail(`Targets[${i}].Input`, 'must be a text.');
        return { arn: Arn, input: Input };
      }),
    };
  });
