/** Usage that belongs to no run: an assessment of the Router. Written with the reply that was bought, so it counts once. */
import { dayOf } from '../kernel/day.ts';
import { keys } from '../kernel/keys.ts';
import { set, type Write } from '../kernel/table.ts';
import { type Figures, NO_FIGURES, NO_PROJECT, plus } from './figures.ts';
import { shardOf } from './roll-up.ts';
import { additionsOf, USAGE_VERSION } from './row.ts';

/** Stands in the place of an agent for what the Router itself has used. */
export const ROUTER = 'router';

export interface Bought {
  readonly orgId: string;
  /** Spreads rows: what is bought for one thing meets itself alone. */
  readonly cause: string;
  readonly model: string;
  readonly figures: Partial<Figures>;
  /** Ms since the epoch. */
  readonly at: number;
}

/** Adds to the row of the day of what no agent has used, and to the model's part of it. */
export const usageWrites = ({ orgId, cause, model, figures, at }: Bought): readonly Write[] => {
  const day = dayOf(at);
  const all = plus(NO_FIGURES, figures);
  const changes = additionsOf({ day, all, models: new Map([[model, all]]), tools: new Map() });
  const row = keys.usage(orgId, day, ROUTER, NO_PROJECT, shardOf(cause));
  return changes.length === 0 ? [] : [{ update: row, changes: [set('v', USAGE_VERSION), ...changes] }];
};
