import type { BenchCloud } from '../cloud.ts';
import { type Direct, measureDirect } from './direct.ts';
import { type Load, type LoadFigures, measureLoads } from './load.ts';
import type { TeamModel } from './model.ts';
import { startTeam } from './team.ts';

/** How a team of the Router keeps up. */
export interface TeamPace {
  readonly loads: readonly { readonly load: Load; readonly figures: LoadFigures }[];
  readonly direct: Direct;
}

/**
 * Five Evals at once is what the template allows. One after the other, so that no load waits for another's Evals: a lone
 * Thread at three paces beside five slow ones; five Threads that share forty messages a minute; five lively ones, each at forty.
 */
export const LOADS: readonly (readonly Load[])[] = [
  [
    { name: 'one-slow', threads: 1, perMinute: 1, seconds: 75 },
    { name: 'one-steady', threads: 1, perMinute: 10, seconds: 75 },
    { name: 'one-busy', threads: 1, perMinute: 40, seconds: 75, warmUpSeconds: 10 },
    { name: 'five-slow', threads: 5, perMinute: 1, seconds: 75 },
  ],
  [{ name: 'five-shared', threads: 5, perMinute: 8, seconds: 45 }],
  [{ name: 'five-busy', threads: 5, perMinute: 40, seconds: 75, warmUpSeconds: 10 }],
];

/** In real time: on a cloud without a trace. */
export const measureTeam = async (
  cloud: BenchCloud,
  model: TeamModel,
  say: (line: string) => void,
): Promise<TeamPace> => {
  const team = await startTeam(cloud, model);
  const loads: { load: Load; figures: LoadFigures }[] = [];
  for (const group of LOADS) {
    say(`Messages: ${group.map(({ threads, perMinute }) => `${perMinute} a minute in ${threads}`).join(', ')} …`);
    const figures = await measureLoads(team, model, group);
    loads.push(...group.map((load, n) => ({ load, figures: figures[n] as LoadFigures })));
  }
  say('The same messages with and without the direct path …');
  return { loads, direct: await measureDirect(cloud, team, model) };
};
