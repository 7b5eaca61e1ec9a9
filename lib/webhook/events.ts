import { type Effect, effectIdOf } from '../effect/effect.ts';
import type { AskRow } from '../execution/rows.ts';
import type { EventType } from './endpoint.ts';

/** One thing that happened, as receivers are told of it. */
export interface WebhookEvent {
  /** The same however often it is told. Of a change of status, also the `id` of the event on the bus. */
  readonly id: string;
  readonly type: EventType;
  /** Ms since the epoch. */
  readonly at: number;
  /** Rises with what happens to one execution; what happens in one moment shares a number. */
  readonly sequence: number;
  readonly data: { readonly [member: string]: unknown };
}

/** Detail of a change of status, as the effect's row holds it. */
interface StatusDetail {
  readonly executionId: string;
  readonly agentId: string;
  readonly from: string;
  readonly to: string;
  readonly reason?: string;
  readonly at: string;
}

const ASKED: { readonly [status: string]: { readonly kind: AskRow['kind']; readonly type: EventType } } = {
  WAITING_FOR_PERMISSION: { kind: 'permission', type: 'permission.requested' },
  WAITING_FOR_INPUT: { kind: 'question', type: 'question.asked' },
};

/** The type of the events about what a change of status asks of people; `undefined` when it asks nothing. */
export const askedTypeOf = (effect: Effect): EventType | undefined =>
  effect.kind === 'bus' ? ASKED[statusDetail(effect).to]?.type : undefined;

const statusDetail = (effect: Effect): StatusDetail => JSON.parse(effect.detail) as StatusDetail;

/** Where a row of an older version has no number, its time rises too. */
const sequenceOf = (effect: Effect): number => effect.sequence ?? effect.at;

/** The event that an effect is itself. */
export const eventOf = (effect: Effect): WebhookEvent => {
  const common = { id: effect.effectId, at: effect.at, sequence: sequenceOf(effect) };
  if (effect.kind === 'webhook') {
    return {
      ...common,
      type: effect.detailType as EventType,
      data: JSON.parse(effect.detail) as WebhookEvent['data'],
    };
  }
  const { executionId, agentId, from, to, reason, at } = statusDetail(effect);
  const data = { executionId, agentId, from, to, ...(reason !== undefined && { reason }), at };
  return { ...common, type: 'execution.status_changed', data };
};

const EXCERPT = 2_000; // characters

/**
 * What was asked by the change: every permission or question of the step that was open in that moment. The id comes from
 * what was asked, so that a run which is paused and waits again for the same answer tells it once.
 * @param asks all of the step
 */
export const askedEvents = (effect: Effect, asks: readonly AskRow[]): WebhookEvent[] => {
  const { executionId, agentId, to } = statusDetail(effect);
  const asked = ASKED[to];
  if (asked === undefined) return [];
  const open = ({ kind, at, decidedAt }: AskRow): boolean =>
    kind === asked.kind && at <= effect.at && (decidedAt === undefined || decidedAt >= effect.at);
  return asks.filter(open).map((ask) => ({
    id: effectIdOf(`${ask.askId} ${asked.type}`),
    type: asked.type,
    at: ask.at,
    sequence: sequenceOf(effect),
    data:
      asked.kind === 'permission'
        ? {
            executionId,
            agentId,
            permissionId: ask.askId,
            tool: ask.tool,
            argumentsHash: ask.argumentsHash,
            why: ask.why,
          }
        : { executionId, agentId, questionId: ask.askId, question: ask.why.slice(0, EXCERPT) },
  }));
};
