/** A Trigger that the model's reply left out: it stays pending, and after three rounds it is decided without one. */
import { openAttention } from '../../attention/attention.ts';
import { ifAllStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import { and, eq, set, type Write } from '../../kernel/table.ts';
import { asHanded } from '../thread/deliver.ts';
import { isVersion } from '../thread/thread-writes.ts';
import type { Trigger } from '../thread/trigger.ts';
import { type Committed, commitRuling, type Standing } from './commit.ts';
import type { AssessDeps } from './deps.ts';

export const MOST_ROUNDS = 3;
/** A person has asked and nobody has decided: shown for a week. */
const SHOWN_MS = 7 * 86_400_000;

const UNDECIDED = 'The model has not decided about it in three rounds.';

export const leaveOpen = async (deps: AssessDeps, standing: Standing, trigger: Trigger): Promise<Committed> => {
  const { lease, thread } = standing;
  const rounds = trigger.rounds + 1;
  if (rounds >= MOST_ROUNDS) {
    const also = trigger.gate.class === 'explicit' ? [attentionTo(deps, trigger)] : [];
    return commitRuling(deps, standing, trigger, { do: 'ignore', reason: UNDECIDED }, also);
  }
  const counted = await ifAllStill(deps.table, [
    { check: keys.thread(thread.orgId, thread.id), if: and(lease.condition(), isVersion(thread)) },
    {
      update: keys.trigger(thread.orgId, thread.id, trigger.id),
      changes: [set('rounds', rounds)],
      if: and(asHanded(trigger), eq('rounds', trigger.rounds)),
    },
  ]);
  // Else counted already by a try whose answer was lost, or moved: the next round reads what is so.
  return counted ? 'done' : 'stale';
};

const attentionTo = ({ clock }: AssessDeps, { orgId, id, threadId, url }: Trigger): Write =>
  openAttention({
    orgId,
    kind: 'trigger_undecided',
    subject: { type: 'trigger', id },
    at: clock.now(),
    question: `A listed person has asked for something${url === undefined ? '' : ` (${url})`}, and the assessment came to no decision.`,
    url: `/v1/threads/${threadId}`,
    actions: [],
    until: clock.now() + SHOWN_MS,
  });
