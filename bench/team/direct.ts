import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchCloud } from '../cloud.ts';
import { ASKS, type TeamModel } from './model.ts';
import type { Kept, Team } from './team.ts';

/** The same messages twice: once a ticket subscribes to some of their Threads, once none does. */
export interface Direct {
  readonly messages: number;
  readonly decisionsWith: number;
  readonly decisionsWithout: number;
}

const OTHERS = 7;
/** Three of ten messages come where a ticket listens. */
const SUBSCRIBED = 3;
const ROUNDS = 4;

const decidedIn = (model: TeamModel, thread: ReadonlySet<string>, from: number): number =>
  model.assessments.slice(from).reduce((sum, one) => sum + (thread.has(one.thread) ? one.asked : 0), 0);

const ticketOf = (kept: readonly Kept[], thread: string): string => {
  const found = kept.find(({ text, decision }) => text.startsWith(`[${thread}]`) && decision?.ticketId !== undefined);
  if (found?.decision?.ticketId === undefined) throw new Error(`No ticket was opened for ${thread}.`);
  return found.decision.ticketId;
};

export const measureDirect = async (cloud: BenchCloud, team: Team, model: TeamModel): Promise<Direct> => {
  model.pace(0, 0);
  const subscribed = Array.from({ length: SUBSCRIBED }, (_, n) => `direct-${n}`);
  const others = Array.from({ length: OTHERS }, (_, n) => `other-${n}`);
  const all = new Set([...subscribed, ...others]);
  for (const thread of subscribed) await team.says(thread, `Do it, ${ASKS}.`);
  const opened = await team.settled(new Set(subscribed), 60);
  const tickets = subscribed.map((thread) => ticketOf(opened, thread));

  const round = async (name: string): Promise<number> => {
    const from = model.assessments.length;
    for (let n = 0; n < ROUNDS; n++) {
      for (const thread of all) await team.says(thread, `${name}, ${n}.`);
      await sleep(300);
    }
    await team.settled(all, 60);
    return decidedIn(model, all, from);
  };
  const decisionsWith = await round('Heard by tickets');
  for (const id of tickets) await cloud.call('POST', `/v1/tickets/${id}/stop`);
  return { messages: ROUNDS * all.size, decisionsWith, decisionsWithout: await round('Heard by nobody') };
};
