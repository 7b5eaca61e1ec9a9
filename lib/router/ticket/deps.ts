import type { EffectMessage } from '../../effect/effect.ts';
import type { StartDeps } from '../../execution/start.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Log, Queue } from '../../kernel/ports.ts';
import type { PostingMessage } from '../message.ts';

/** What every use case of a ticket touches. */
export interface TicketDeps extends StartDeps {
  readonly ids: Ids;
  readonly effects: Queue<EffectMessage>;
  readonly postings: Queue<PostingMessage>;
}

/** Rows for a transaction, and the messages that follow it; a lost one is found by its row's mark. */
export interface Planned<Writes> {
  readonly writes: Writes;
  readonly effectIds: readonly string[];
}

export const wakeEffects = async (
  deps: { readonly effects: Queue<EffectMessage>; readonly log: Log },
  orgId: string,
  effectIds: readonly string[],
): Promise<void> => {
  const sent = effectIds.map((effectId) => deps.effects.send({ orgId, effectId }, { delaySeconds: 0, tenant: orgId }));
  for (const result of await Promise.allSettled(sent)) {
    if (result.status === 'rejected') {
      deps.log.warn('An effect could not be woken; the sweep will.', { error: String(result.reason) });
    }
  }
};
