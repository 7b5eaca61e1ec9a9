import type { Bundle } from './cold.ts';
import { costPerMillion, gbSeconds, ingestedBytes, ownMs, type StepCost, waitingPerMillion } from './cost.ts';
import type { Crashes } from './crash.ts';
import type { Curve } from './curve.ts';
import { featureFigures, type MeasuredFeatures } from './feature-figures.ts';
import { aim, type Figure, figure, hard } from './figure.ts';
import type { Idle } from './idle.ts';
import { PRICES } from './prices.ts';
import { divided, most } from './stats.ts';
import type { StepUnits, Units } from './steps.ts';
import type { Stored } from './stored.ts';
import { type MeasuredTeam, teamFigures } from './team/figures.ts';
import type { Throughput } from './throughput.ts';

/** Everything a run of the bench found out. */
export interface Measured extends MeasuredFeatures {
  readonly curve: Curve;
  readonly stored: Stored;
  readonly throughput: Throughput;
  readonly units: Units;
  readonly idle: Idle;
  /** `undefined` where processes cannot be told apart (no /proc). */
  readonly crashes: { readonly keyed: Crashes; readonly unsafe: Crashes } | undefined;
  readonly team: MeasuredTeam;
  readonly bundles: readonly Bundle[];
  /** Memory of the step function in the template, MB. */
  readonly stepMemoryMb: number;
}

export const figuresOf = (measured: Measured): readonly Figure[] => [
  ...latency(measured),
  ...use(measured),
  ...costs(measured),
  ...featureFigures(measured),
  ...teamFigures(measured.team),
  ...crash(measured),
  ...weight(measured),
];

const latency = ({ curve, throughput }: Measured): readonly Figure[] => {
  const at = (step: number): number | undefined => curve.points.find((point) => point.at === step)?.p50;
  const early = at(200);
  return [
    figure('step.p50', 'time per step with a full window, p50', 'ms', curve.p50, aim(25)),
    figure('step.p99', 'time per step with a full window, p99', 'ms', curve.p99),
    ...curve.points.map((point) => figure(`step.at.${point.at}`, `p50 at step ${point.at}`, 'ms', point.p50)),
    ...curve.points
      .filter((point) => point.at > 200)
      .map((point) =>
        figure(`ratio.${point.at}`, `p50 at step ${point.at} ÷ at step 200`, '×', divided(point.p50, early), hard(1.1)),
      ),
    figure('window', 'window at the last point, mean', 'KB', curve.points.at(-1)?.windowKb),
    figure('summary.p50', 'time of a summary step (not in the above), p50', 'ms', curve.summaryP50),
    figure('summary.every', 'steps for each summary', '', divided(curve.steps, curve.summaries)),
    figure('rate', 'steps per second, 50 runs at once', '/s', throughput.stepsPerSecond),
  ];
};

const useOfStep = (name: string, label: string, units: StepUnits, judged: boolean): readonly Figure[] => [
  figure(`${name}.rounds`, `sequential rounds, ${label}`, '', units.rounds, judged ? hard(4) : undefined),
  figure(`${name}.writes`, `write units, ${label}`, '', units.writeUnits, judged ? hard(5) : undefined),
  figure(`${name}.reads`, `read units, ${label}`, '', units.readUnits),
  figure(`${name}.sqs`, `SQS requests, ${label}`, '', units.sqsRequests, judged ? hard(4) : undefined),
];

const use = ({ units, stored, idle }: Measured): readonly Figure[] => [
  ...useOfStep('one', 'one call', units.one, true),
  ...useOfStep('three', 'three calls', units.three, false),
  figure('long.reads', 'read units, full window, summaries shared out', '', units.long.readUnits),
  figure('long.writes', 'write units, full window, summaries shared out', '', units.long.writeUnits),
  figure('stored.ratio', 'bytes stored ÷ feed', '×', divided(stored.bytes, stored.feedBytes), hard(2)),
  figure('row', 'execution row (two writes of it a step)', 'B', stored.executionRowBytes, aim(1_024)),
  figure('idle.invocations', 'idle a day: invocations', '', idle.invocations),
  figure('idle.reads', 'idle a day: read units', '', idle.readUnits),
  figure('idle.writes', 'idle a day: write units', '', idle.writeUnits),
  figure('idle.polls', 'idle a day: polls by Lambda (computed)', '', idle.polls),
];

/** A step of a long run at the default delay with the window full, its share of the summaries included. */
export const costOf = (measured: Measured): StepCost => {
  const { units, curve, stepMemoryMb } = measured;
  const { invocations } = units.long;
  // Once a minute a step moves the mark of the sweep, which is a share of the steps that depends on the delay.
  const markUnits = Math.max(0, (units.one.writeUnitsMean ?? 0) - (units.one.writeUnits ?? 0));
  const ms = ownMs(curve.stepCpuMs ?? curve.p50 ?? 0, units.one.rounds ?? 0, stepMemoryMb);
  return costPerMillion(
    {
      writeUnits: units.long.writeUnits + markUnits,
      readUnits: units.long.readUnits,
      sqsRequests: (units.one.sqsRequests ?? 0) * invocations,
      lambdaRequests: invocations,
      gbSeconds: gbSeconds(ms * invocations, stepMemoryMb),
      logBytes: ingestedBytes(units.logBytes, units.logLines) * invocations,
    },
    PRICES,
  );
};

const costs = (measured: Measured): readonly Figure[] => {
  const cost = costOf(measured);
  const wait = waitingPerMillion(3, measured.stepMemoryMb, PRICES);
  return [
    figure('usd.total', 'platform, a million steps', '$', cost.total, hard(8)),
    figure('usd.writes', '  DynamoDB writes', '$', cost.writes),
    figure('usd.reads', '  DynamoDB reads, full window', '$', cost.reads),
    figure('usd.queue', '  SQS', '$', cost.queue),
    figure('usd.requests', '  Lambda requests', '$', cost.requests),
    figure('usd.compute', '  Lambda own compute (estimated)', '$', cost.compute),
    figure('usd.logs', '  CloudWatch Logs', '$', cost.logs),
    figure('usd.wait', 'apart: waiting 3 s for the model, a million steps', '$', wait),
  ];
};

const crash = ({ crashes }: Measured): readonly Figure[] => {
  const seconds = (ms: number | undefined): number | undefined => divided(ms, 1_000);
  const { keyed, unsafe } = crashes ?? {};
  return [
    figure('kill.p50', 'kill → next step, keyed effect, p50', 's', seconds(keyed?.toNextP50)),
    figure('kill.most', 'kill → next step, keyed effect, longest', 's', seconds(keyed?.toNextMost), hard(10)),
    figure('kill.kills', 'kills after a keyed effect', '', keyed?.kills),
    figure('kill.mid', '  of them before the step had committed', '', keyed?.hitInMidStep),
    figure('kill.twoKeys', 'effects under two keys', '', keyed?.twoKeys, hard(0)),
    figure('kill.repeated', 'effects sent again under their one key', '', keyed?.repeated),
    figure('unsafe.most', 'kill → next step, unsafe effect, longest', 's', seconds(unsafe?.toNextMost)),
    figure('unsafe.kills', 'kills after an unsafe effect', '', unsafe?.kills),
    figure('unsafe.again', 'unsafe effects run a second time', '', unsafe?.repeated, hard(0)),
    figure('unsafe.unknown', 'unsafe effects declared unknown', '', unsafe?.unknown),
    figure('kill.latest', 'latest kill after its effect', 'ms', most([keyed?.latestMs ?? 0, unsafe?.latestMs ?? 0])),
    figure(
      'kill.standing',
      'runs that wait for the sweep',
      '',
      crashes && [...crashes.keyed.stuck, ...crashes.unsafe.stuck].length,
    ),
  ];
};

const weight = ({ bundles, throughput, curve }: Measured): readonly Figure[] => [
  ...bundles.flatMap(({ name, mb, coldMs }) => [
    figure(`size.${name}`, `bundle ${name}`, 'MB', mb, name === 'step' ? aim(1.5) : undefined),
    figure(`cold.${name}`, `cold start ${name}`, 'ms', coldMs, name === 'step' ? aim(200) : undefined),
  ]),
  figure('memory', 'memory of all processes, 50 runs at once', 'MB', throughput.peakMb),
  figure('cpu.step', 'processor time of a step in its function', 'ms', curve.stepCpuMs),
  figure('cpu.cloud', 'processor time of a step in the emulators', 'ms', curve.cloudCpuMs),
];
