/** A schedule that stopped by itself asks for a person: its attention item lives as long as the reason in its row. */
import { type AttentionAction, type Cause, closeAttention, openAttention } from '../attention/attention.ts';
import type { Write } from '../kernel/table.ts';
import type { Schedule } from './schedule.ts';

type Reason = NonNullable<Schedule['reason']>;

/** Of a schedule that stopped at `at`, ms. */
export const stopCause = ({ orgId, id }: Pick<Schedule, 'orgId' | 'id'>, at: number): Cause => ({
  orgId,
  kind: 'schedule_stopped',
  subject: { type: 'schedule', id },
  at,
});

const actionsOf = (url: string, { code }: Reason): readonly AttentionAction[] => [
  // Nothing brings an agent back.
  ...(code === 'agent_deleted' ? [] : [{ label: 'Resume', method: 'POST' as const, path: `${url}/resume` }]),
  { label: 'Delete', method: 'DELETE', path: url },
];

const opened = (schedule: Schedule): readonly Write[] => {
  const { id, reason } = schedule;
  if (reason?.at === undefined) return [];
  const url = `/v1/schedules/${id}`;
  return [
    openAttention({
      ...stopCause(schedule, reason.at),
      question: `The schedule ${id} stopped by itself. ${reason.message}`,
      url,
      actions: actionsOf(url, reason),
    }),
  ];
};

/** What stands beside the row in the transaction that replaces it: the item opens with the reason, and closes with it. */
export const attentionWrites = (seen: Schedule, after: Schedule): readonly Write[] => {
  const before = seen.reason?.at;
  if (before === after.reason?.at) return [];
  return [...(before === undefined ? [] : [closeAttention(stopCause(seen, before))]), ...opened(after)];
};
