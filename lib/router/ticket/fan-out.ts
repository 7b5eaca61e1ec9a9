/**
 * The direct path (spec E3): a Trigger goes straight to the tickets that subscribe to its Thread. No model is asked, and
 * each of them acts under its own mandate (I7).
 */
import { judgeGate } from '../gate/judge-gate.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import { findSource } from '../source/find.ts';
import type { Trigger } from '../thread/trigger.ts';
import type { TicketDeps } from './deps.ts';
import { giveMessage } from './give.ts';
import { type Message, messageOf, withdrawnOf } from './message.ts';
import { goOnIfStopped } from './people.ts';
import { lookBeforeRevival } from './revival.ts';
import { subscribersOf } from './stop.ts';

/**
 * Once per ticket and revision, however often it is called.
 * @returns the tickets that have it; none when all have ended and none may be revived
 */
export const fanOut = async (deps: TicketDeps, trigger: Trigger): Promise<readonly string[]> => {
  const { orgId, threadId } = trigger;
  const [ticketIds, message] = await Promise.all([subscribersOf(deps, orgId, threadId), messageFor(deps, trigger)]);
  const source = await findSource(deps.table, orgId, trigger.sourceId);
  const look = lookBeforeRevival(deps.table, orgId, threadId, source);
  const given = await Promise.allSettled(
    ticketIds.map(async (ticketId) => {
      const at = { orgId, ticketId };
      const taken = await giveMessage(deps, at, message, look);
      if (taken === 'taken' && message.human) {
        await goOnIfStopped(deps, at, { actor: message.origin, key: message.cause });
      }
      return { ticketId, given: taken };
    }),
  );
  // All have been asked before a failure is passed on: who asks again finds those that have it.
  const failed = given.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return given.flatMap((result) =>
    result.status === 'fulfilled' && result.value.given === 'taken' ? [result.value.ticketId] : [],
  );
};

/** The Gate is asked anew, by the policy as it is now: in a Thread that a ticket subscribes to nobody has to name us. */
export const isExplicit = async ({ table }: Pick<TicketDeps, 'table'>, trigger: Trigger): Promise<boolean> => {
  const [policy, source] = await Promise.all([
    loadPolicy(table, trigger.orgId),
    findSource(table, trigger.orgId, trigger.sourceId),
  ]);
  return judgeGate(policy, trigger, source?.self, true).class === 'explicit';
};

const messageFor = async (deps: TicketDeps, trigger: Trigger): Promise<Message> =>
  trigger.withdrawn === true ? withdrawnOf(trigger) : messageOf(trigger, await isExplicit(deps, trigger), 'message');
