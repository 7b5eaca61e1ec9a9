import { randomUUID } from 'node:crypto';
import { medianWork, type Observer, type Work, workOf } from '../observe.ts';
import { depthOf } from '../rounds.ts';
import { median } from '../stats.ts';
import { ASKS, type TeamModel } from './model.ts';
import type { Team } from './team.ts';

/** What one message takes from its receipt to what becomes of it, without the run of a worker. */
export interface MessageUnits {
  /** Network rounds one after the other, of all functions it passes through. */
  readonly rounds: number | undefined;
  readonly work: Work;
}

export interface TeamUnits {
  /** A repeat of one that is known. */
  readonly dropped: MessageUnits;
  /** Nobody admits it: the gate says so, and no model is asked. */
  readonly ignored: MessageUnits;
  /** The Eval decides that nobody has to do anything. */
  readonly decided: MessageUnits;
  /** The Eval opens a ticket: decision, mandate, subscription and the run that begins. */
  readonly accepted: MessageUnits;
}

const TIMES = 3;
const TEAM = ['-ingest', '-resolve', '-assess'];

/** On a traced cloud on which nothing else runs. */
export const measureTeamUnits = async (observer: Observer, team: Team, model: TeamModel): Promise<TeamUnits> => {
  model.pace(0, 0);
  const { assembly } = observer;
  const roles = new Set(
    assembly.functions.filter(({ name }) => TEAM.some((end) => name.endsWith(end))).map((fn) => fn.roleLogicalId),
  );
  const one = async (happen: (n: number) => Promise<unknown>): Promise<MessageUnits> => {
    // Processes that have started and know the secrets of their source.
    await observer.during(8, () => happen(0));
    const works: Work[] = [];
    const rounds: number[] = [];
    for (let n = 1; n <= TIMES; n++) {
      const lines = (await observer.during(8, () => happen(n))).filter(({ principal }) => roles.has(principal));
      works.push(workOf(lines, assembly));
      rounds.push(depthOf(lines.filter(({ invocation }) => invocation !== '')));
    }
    return { work: medianWork(works), rounds: median(rounds) };
  };
  const heard = async (thread: string, words: string): Promise<void> => {
    await team.says(thread, words);
    await team.settled(new Set([thread]), 60);
  };
  const known = randomUUID();
  return {
    dropped: await one(() => team.says('units-known', 'Once.', { id: known })),
    ignored: await one((n) => team.says(`units-ignored-${n}`, 'Nobody listens.', { unheard: true })),
    decided: await one((n) => heard(`units-decided-${n}`, 'By the way.')),
    accepted: await one((n) => heard(`units-accepted-${n}`, `Do it, ${ASKS}.`)),
  };
};
