import { randomUUID } from 'node:crypto';
import type { Assembly, LocalRule } from '../template/assembly.ts';
import { checkPattern, matches } from './pattern.ts';
import { rateMs } from './schedule.ts';

/** An event as EventBridge hands it to targets. */
export interface BusEvent {
  readonly version: '0';
  readonly id: string;
  readonly 'detail-type': string;
  readonly source: string;
  readonly account: string;
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: unknown;
}

export interface BusOptions {
  readonly assembly: Assembly;
  readonly region: string;
  readonly account: string;
  /** Hands an event to a function without waiting for it. */
  invokeAsync(functionArn: string, payload: string): void;
  /** May EventBridge, for this rule, invoke this function? (`AWS::Lambda::Permission`) */
  mayInvoke(functionArn: string, ruleArn: string): boolean;
  echo(line: string): void;
}

/** The rules of the template: schedules that fire by the clock, patterns that fire by events. */
export interface Bus {
  /** Fires each schedule once and then by its rate. */
  start(): void;
  /** Hands an event that was put on a bus to every enabled rule of that bus that matches. */
  onEvent(busName: string, event: BusEvent): void;
  /** Fires a rule by its name or the last part of its name, enabled or not. False when there is none. */
  fire(name: string): boolean;
  readonly ruleNames: readonly string[];
  close(): void;
}

/** @throws Error when a schedule or pattern of the template cannot be played */
export const createBus = (options: BusOptions): Bus => {
  const { rules } = options.assembly;
  const timers: NodeJS.Timeout[] = [];
  const schedules = rules.flatMap((rule) =>
    rule.schedule === undefined ? [] : [{ rule, everyMs: rateMs(rule.schedule) }],
  );
  for (const { pattern } of rules) if (pattern !== undefined) checkPattern(pattern);

  const scheduled = (rule: LocalRule): BusEvent => ({
    version: '0',
    id: randomUUID(),
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    account: options.account,
    time: `${new Date().toISOString().slice(0, 19)}Z`,
    region: options.region,
    resources: [rule.arn],
    detail: {},
  });

  const hand = (rule: LocalRule, event: BusEvent): void => {
    for (const target of rule.targets) {
      if (!options.mayInvoke(target.arn, rule.arn)) {
        options.echo(
          `[events] the rule ${rule.name} may not invoke ${target.arn}: no AWS::Lambda::Permission allows it`,
        );
        continue;
      }
      options.invokeAsync(target.arn, target.input ?? JSON.stringify(event));
    }
  };

  return {
    start() {
      for (const { rule, everyMs } of schedules) {
        if (!rule.enabled) continue;
        hand(rule, scheduled(rule));
        timers.push(setInterval(() => hand(rule, scheduled(rule)), everyMs));
      }
    },
    onEvent(busName, event) {
      for (const rule of rules) {
        const { pattern } = rule;
        if (rule.enabled && rule.busName === busName && pattern !== undefined && matches(pattern, event))
          hand(rule, event);
      }
    },
    fire(name) {
      const rule = rules.find((one) => one.name === name) ?? rules.find((one) => one.name.endsWith(`-${name}`));
      if (rule === undefined) return false;
      hand(rule, scheduled(rule));
      return true;
    },
    ruleNames: rules.map(({ name }) => name),
    close() {
      for (const timer of timers) clearInterval(timer);
    },
  };
};
