import type * as z from 'zod';
import type { Ask, Outcome, Received, Resolution } from '../../router/channel.ts';
import type { Source } from '../../router/source/source.ts';
import type { NewTrigger } from '../../router/thread/trigger.ts';
import { isOwnApp, isSelf, type User } from './payload.ts';

export interface Context {
  readonly source: Source;
  readonly received: Received;
  readonly ask: Ask;
}

export interface Dropped {
  readonly code: string;
  readonly message: string;
}

/** How one of GitHub's events is read. */
export interface EventReader {
  /** The others are of no concern. An event without actions has `''`. */
  readonly actions: readonly string[];
  /** Whether the payload is what the event promises. */
  readonly fits: (payload: unknown) => boolean;
  /** Why nothing is made of it although it is ours to read; `undefined` when something may be. */
  readonly drop: (payload: unknown, source: Source) => Dropped | undefined;
  readonly same: (payload: unknown) => string | undefined;
  /** @throws ZodError, ProviderError */
  readonly resolve: (payload: unknown, context: Context) => Promise<Resolution>;
}

interface Definition<Payload> {
  readonly actions: readonly string[];
  readonly schema: z.ZodType<Payload>;
  readonly drop?: (payload: Payload, source: Source) => Dropped | undefined;
  /** Names the object and its state, where that can be told. */
  readonly same?: (payload: Payload) => string | undefined;
  readonly read: (payload: Payload, context: Context) => Resolution | Promise<Resolution>;
}

export const defineEvent = <Payload>(definition: Definition<Payload>): EventReader => {
  const { actions, schema, drop, same, read } = definition;
  return {
    actions,
    fits: (payload) => schema.safeParse(payload).success,
    drop: (payload, source) => drop?.(schema.parse(payload), source),
    same: (payload) => same?.(schema.parse(payload)),
    resolve: async (payload, context) => read(schema.parse(payload), context),
  };
};

export const outcomes = (...made: readonly Outcome[]): Resolution => ({ resolve: 'outcomes', outcomes: made });

export const drop = (code: string, message: string): Resolution => ({ resolve: 'drop', code, message });

/** What we said or did ourselves comes back as an event too, and is no request to us. */
export const OWN: Dropped = { code: 'own_message', message: 'We said or did it ourselves.' };

/** A comment or a note: our own words, whoever changes or deletes them; what others wrote stays theirs. */
export const ownComment = (
  {
    action,
    comment,
    sender,
  }: {
    readonly action: string;
    readonly comment: {
      readonly user?: User;
      readonly performed_via_github_app?: { readonly id: number } | null | undefined;
    };
    readonly sender?: User;
  },
  source: Source,
): Dropped | undefined =>
  isSelf(comment.user, source) ||
  isOwnApp(comment.performed_via_github_app, source) ||
  (isSelf(sender, source) && action !== 'deleted')
    ? OWN
    : undefined;

/** What every Trigger of an event shares. */
export const basis = (
  { source, received }: Context,
  scope: string,
  occurredAt: number | undefined,
): Pick<NewTrigger, 'sourceId' | 'scope' | 'deliveryId' | 'occurredAt'> => ({
  sourceId: source.id,
  scope,
  deliveryId: received.deliveryId,
  occurredAt: occurredAt ?? received.receivedAt,
});
