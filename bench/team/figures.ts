import { costPerThousand } from '../cost.ts';
import { atLeast, type Figure, figure, hard } from '../figure.ts';
import { PRICES } from '../prices.ts';
import { divided } from '../stats.ts';
import type { Load, LoadFigures } from './load.ts';
import type { TeamPace } from './measure.ts';
import type { MessageUnits, TeamUnits } from './units.ts';

export interface MeasuredTeam {
  readonly units: TeamUnits;
  /** Not measured in a quick run: it takes minutes of real time. */
  readonly pace: TeamPace | undefined;
}

const message = (id: string, label: string, { rounds, work }: MessageUnits): readonly Figure[] => [
  figure(`team.${id}.rounds`, `message ${label}: rounds, all functions`, '', rounds),
  figure(`team.${id}.writes`, `message ${label}: write units`, '', work.writeUnits),
  figure(`team.${id}.reads`, `message ${label}: read units`, '', work.readUnits),
  figure(`team.${id}.sqs`, `message ${label}: SQS requests`, '', work.sqsRequests),
  figure(`team.${id}.usd`, `message ${label}: a thousand`, '$', costPerThousand(work, PRICES)),
];

/** What was promised of five Threads that are busy: router-spec, N15. */
const LEAST_BATCH = 2;
const MOST_OF_SLOW = 0.5;
/** A quarter more decisions where three messages of ten have no ticket to go straight to. */
const LEAST_WITHOUT_DIRECT = 1.25;
const BUSY = 'five-busy';
const SLOW = 'five-slow';

const pace = ({ threads, perMinute }: Load): string =>
  threads === 1 ? `${perMinute} a minute in one Thread` : `${perMinute} a minute in each of ${threads} Threads`;

const load = (of: Load, found: LoadFigures): readonly Figure[] => {
  const id = `team.${of.name}`;
  return [
    figure(
      `${id}.batch`,
      `${pace(of)}: mean batch`,
      '',
      found.batch,
      of.name === BUSY ? atLeast(LEAST_BATCH) : undefined,
    ),
    figure(`${id}.model`, `${pace(of)}: model time for each decision`, 's', found.modelSeconds),
    figure(`${id}.p50`, `${pace(of)}: receipt → decision, p50`, 's', divided(found.p50, 1_000)),
    figure(`${id}.p95`, `${pace(of)}: receipt → decision, p95`, 's', divided(found.p95, 1_000)),
  ];
};

const paces = ({ loads, direct }: TeamPace): readonly Figure[] => {
  const of = (name: string): LoadFigures | undefined => loads.find((one) => one.load.name === name)?.figures;
  return [
    ...loads.flatMap((one) => load(one.load, one.figures)),
    figure(
      'team.model.ratio',
      'model time for each decision, five Threads at 40 a minute ÷ at 1',
      '×',
      divided(of(BUSY)?.modelSeconds, of(SLOW)?.modelSeconds),
      hard(MOST_OF_SLOW),
    ),
    figure(
      'team.direct.with',
      `decisions for ${direct.messages} messages, 3 of 10 heard by a ticket`,
      '',
      direct.decisionsWith,
    ),
    figure('team.direct.without', 'decisions for the same messages, heard by none', '', direct.decisionsWithout),
    figure(
      'team.direct.ratio',
      'decisions without the direct path ÷ with it',
      '×',
      divided(direct.decisionsWithout, direct.decisionsWith),
      atLeast(LEAST_WITHOUT_DIRECT),
    ),
  ];
};

export const teamFigures = ({ units, pace: measured }: MeasuredTeam): readonly Figure[] => [
  ...message('dropped', 'that is a repeat', units.dropped),
  ...message('ignored', 'that the gate ignores', units.ignored),
  ...message('decided', 'that the Eval ignores', units.decided),
  ...message('accepted', 'that opens a ticket', units.accepted),
  ...(measured === undefined ? [] : paces(measured)),
];
