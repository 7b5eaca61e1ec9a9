/** Usage that belongs to no run: an assessment of the Router. Written with the reply that was bought, so it counts once. */
import { dayOf } from '../kernel/day.ts';
import type { Write } from '../kernel/table.ts';
import { type Figures, NO_FIGURES, NO_PROJECT, plus, type Share } from './figures.ts';
import { addTo, shardOf } from './roll-up.ts';

export interface Bought {
  readonly orgId: string;
  /** Spreads rows: what is bought for one thing meets itself alone. */
  readonly cause: string;
  readonly model: string;
  readonly figures: Partial<Figures>;
  /** Ms since the epoch. */
  readonly at: number;
}

/** Adds to the rows of the day, the model, and of what is in no project. */
export const usageWrites = ({ orgId, cause, model, figures, at }: Bought): readonly Write[] => {
  const day = dayOf(at);
  const whole = plus(NO_FIGURES, figures);
  const shares: readonly Share[] = [
    { dimension: 'day', key: day, day, figures: whole },
    { dimension: 'model', key: model, day, figures: whole },
    { dimension: 'project', key: NO_PROJECT, day, figures: whole },
  ];
  return shares.map((share) => addTo(orgId, shardOf(cause, 0), share));
};
