/** What must hold in the very moment of a decision: judged against the rows as they stood before it. */
import { keys } from '../../../../lib/kernel/keys.ts';
import type { Item, Key, Write } from '../../../../lib/kernel/table.ts';
import { readHead } from '../../../../lib/router/policy/policy-row.ts';
import { readDecision } from '../../../../lib/router/thread/rows.ts';
import { readThread } from '../../../../lib/router/thread/thread.ts';
import { readTrigger } from '../../../../lib/router/thread/trigger.ts';
import type { Process } from '../../../simulation/faults.ts';

type Before = (key: Key) => Promise<Item | undefined>;

/** @returns what a decision of an Eval would break; nothing where the transaction holds none */
export const violationAt = async (
  writes: readonly Write[],
  before: Before,
  process: Process,
  now: number,
): Promise<string | undefined> => {
  const put = writes.find((write) => 'put' in write && write.put.sk.startsWith('dec_'));
  if (put === undefined || !('put' in put)) return undefined;
  const decision = readDecision(put.put);
  // A person's stop and what code alone decides stand on no lease.
  if (decision.evalId === undefined) return undefined;
  const threadItem = await before(keys.thread(decision.orgId, decision.threadId));
  const triggerItem = await before(keys.trigger(decision.orgId, decision.threadId, decision.triggerId));
  if (threadItem === undefined || triggerItem === undefined) return 'a decision about nothing';
  const thread = readThread(threadItem);
  const trigger = readTrigger(triggerItem);
  const head = await before(keys.policy(decision.orgId));
  const what = `${decision.decision} of ${decision.triggerId}`;
  if (thread.owner !== process.owner) return `I5: ${what} by who does not hold the Thread`;
  // A clock that is behind lets nobody else in: the epoch is what keeps two apart.
  if (process.skewMs >= 0 && (thread.leaseUntil ?? 0) <= now) return `I5: ${what} under a lease that has ended`;
  if (head === undefined || readHead(head) !== decision.policyVersion) return `I6: ${what} by an old policy`;
  if (trigger.state !== 'pending') return `I2: ${what}, which is ${trigger.state}`;
  if (trigger.revision !== decision.revision)
    return `C34: ${what} in revision ${decision.revision} of ${trigger.revision}`;
  if (decision.decision !== 'accept') return undefined;
  if (thread.stoppedAt !== undefined && trigger.occurredAt <= thread.stoppedAt)
    return `I21: ${what} from before a stop`;
  return thread.tickets.length > 0 ? `E3: ${what} beside a ticket that subscribes` : undefined;
};
