import { endOfWait, type WaitArguments } from '../../tools/wait.ts';
import type { ToolRow } from '../feed.ts';
import { type Actor, type Planned, storeOutcome } from './act.ts';
import type { Turn } from './claimed.ts';
import { parkWait, readWait, type WaitState } from './wait.ts';

const lasting = (ms: number): string => {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
};

/** What the model is told of a wait that is over. */
export const waitText = ({ by, waitedMs, until }: Extract<WaitState, { kind: 'over' }>): string =>
  by === 'time'
    ? `Waited ${lasting(waitedMs)}, until ${new Date(until).toISOString()}.`
    : `A message ended the wait after ${lasting(waitedMs)}, before ${new Date(until).toISOString()}. It follows.`;

/**
 * The call `wait`: the step stands still until its time, or until a message comes.
 * @param heard the counter of waking inputs that this reply knows of
 * @param cost what this claim spent, micro-dollars
 */
export const waitCall = async (
  turn: Turn,
  actor: Actor,
  planned: Extract<Planned, { kind: 'run' }>,
  heard: number,
  cost: number,
): Promise<ToolRow | 'parked'> => {
  const { call, n } = planned;
  const done = actor.leftovers.outcomes.get(n);
  if (done !== undefined) return done;
  const now = turn.deps.clock.now();
  const state = await readWait(turn, n);
  if (state.kind === 'over') return storeOutcome(actor, call, n, 'ok', waitText(state), now - state.waitedMs);
  const args = planned.args as WaitArguments;
  const end = endOfWait(args, now);
  if (state.kind === 'new' && !end.ok) return storeOutcome(actor, call, n, 'error', end.problem, now);
  if (state.kind === 'new' && end.ok && end.until <= now) {
    return storeOutcome(actor, call, n, 'ok', `${args.until} is past already: nothing to wait for.`, now);
  }
  const until = end.ok ? end.until : now;
  const parked = await parkWait(turn, { n, until, wakeOnInput: args.wakeOnInput ?? true, waking: heard, cost });
  if (parked === 'parked') return 'parked';
  const text = 'Not waited: a message arrived before the wait began. It follows.';
  return storeOutcome(actor, call, n, 'ok', text, now);
};
