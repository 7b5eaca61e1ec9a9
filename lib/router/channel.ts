/**
 * Port: one kind of source, as the Router sees it. Reading deliveries is pure; what asks the provider goes through
 * `Provider`, which is made for one source. Implementations: `lib/channel/<kind>/` (reading) and `lib/github/` (asking).
 */
import type { Verb } from './mandate/mandate.ts';
import type { Source, SourceKind, SourceSecrets } from './source/source.ts';
import type { NewThread } from './thread/thread.ts';
import type { NewTrigger, ReplyTo } from './thread/trigger.ts';

/** A request as it came: bytes, and header names in lower case. */
export interface RawDelivery {
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array;
}

export type Verified = { readonly ok: true } | { readonly ok: false; readonly code: string; readonly message: string };

/** What a look at a verified delivery says, before anything is judged. */
export type Sight =
  | {
      readonly see: 'keep';
      readonly providerId: string;
      readonly event: string;
      readonly action?: string;
      /** Names the object and its present state: another delivery with the same name tells nothing new. */
      readonly same?: string;
    }
  | {
      readonly see: 'drop';
      readonly providerId: string;
      readonly event: string;
      readonly action?: string;
      readonly code: string;
      readonly message: string;
    }
  | { readonly see: 'unreadable'; readonly message: string };

/** What became of a delivery: each item is applied by itself and in this order. */
export type Outcome =
  /** A new object or a new revision of one: a Trigger of that Thread. */
  | { readonly make: 'trigger'; readonly thread: NewThread; readonly trigger: NewTrigger; readonly edited: boolean }
  /** The object is gone: its Trigger is withdrawn. */
  | { readonly make: 'withdraw'; readonly threadKey: string; readonly objectId: string; readonly at: number }
  /** State of what is discussed. */
  | {
      readonly make: 'subject';
      readonly thread: NewThread;
      readonly state: 'open' | 'closed' | 'merged' | 'gone';
      readonly at: number;
    }
  /** State of the source itself: installation suspended or removed, repositories renamed or taken away. */
  | {
      readonly make: 'source';
      readonly at: number;
      readonly state?: 'active' | 'suspended' | 'gone';
      /** Why it is not active, for people. */
      readonly reason?: string;
      readonly renamed?: { readonly id: string; readonly fullName: string };
      /** Ids of repositories that it reaches no more. */
      readonly removed?: readonly string[];
    };

export type Resolution =
  | { readonly resolve: 'outcomes'; readonly outcomes: readonly Outcome[] }
  | { readonly resolve: 'drop'; readonly code: string; readonly message: string };

/** What is known of a delivery besides what it says. */
export interface Received {
  readonly deliveryId: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

export interface Channel {
  readonly kind: SourceKind;
  /** Request headers that `resolve` reads, lower case; the others are not kept. */
  readonly keeps: readonly string[];
  /** Over the raw bytes, against each signing secret, in constant time. */
  verify(raw: RawDelivery, secrets: SourceSecrets): Verified;
  look(raw: RawDelivery, source: Source): Sight;
  /**
   * Pure but for what it asks.
   * @throws ProviderError when the provider has to be asked and does not answer: it comes again
   */
  resolve(raw: RawDelivery, source: Source, received: Received, ask: Ask): Promise<Resolution>;
  /** Whether the text names us, as a whole word outside of code, quotes and comments. */
  names(text: string, source: Source): boolean;
}

/** Somebody to ask about one repository, for reading. Made when it is needed: most deliveries tell all by themselves. */
export type Ask = (repositoryId: string) => Promise<Pick<Provider, 'get'>>;

/** Those that this version knows. */
export type Channels = { readonly [kind in SourceKind]?: Channel };

/** A comment as the provider shows it. */
export interface RemotePost {
  readonly id: string;
  readonly url?: string | undefined;
  readonly body: string;
  readonly authorId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The key that it was posted with, read from its mark; anybody can copy a mark, so the author counts besides. */
  readonly key?: string | undefined;
}

/** Asks one provider in the name of one source. Every method is at least one request and never repeats a write by itself. */
export interface Provider {
  /** How long after the first attempt a repeat of `post` with the same key is still known as one; without it never. */
  readonly repeatsWithinMs?: number;
  /** The key goes along in a way by which `list` knows it again. @throws ProviderError */
  post(to: ReplyTo, body: string, key: string): Promise<{ readonly id: string; readonly url?: string }>;
  /** @throws ProviderError */
  edit(to: ReplyTo, id: string, body: string, key: string): Promise<void>;
  /** Comments in a discussion that were written or changed since a moment; a list, never a search. @throws ProviderError */
  list(to: ReplyTo, sinceMs: number): Promise<readonly RemotePost[]>;
  /** @throws ProviderError */
  requestReview(to: ReplyTo, reviewers: readonly string[]): Promise<void>;
  /**
   * Any reading: a path of the provider's API below the repository, with query; the empty path is the repository itself,
   * `search/code` and `search/issues` look in it alone. @throws ProviderError
   */
  get(repositoryId: string, path: string, query?: { readonly [name: string]: string }): Promise<unknown>;
  /** One cheap request that shows whether the credentials work. @throws ProviderError */
  check(): Promise<{ readonly login?: string }>;
}

/** Makes the provider of a source with no more rights than `verb` on `repositoryId` needs. */
export type ProviderOf = (
  source: Source,
  secrets: SourceSecrets,
  needs: {
    readonly verb: Verb;
    readonly repositoryId?: string | undefined;
    /** No write is begun after this, ms since the epoch: the lease that it is made under ends soon after. */
    readonly until?: number | undefined;
  },
) => Provider;

/**
 * `gone`: the place is not there (404, 410): final. `refused`: the provider will not, and a repeat does not help (403 of a
 * suspended installation, 422). `unauthorized`: the credentials. `busy`: later, after `retryAfterMs`. `unknown`: no answer
 * came to a write, or 5xx: it may have happened. `down`: no answer to a reading, 5xx, or a write that never left.
 * `code` says more where the whole source is meant: `suspended`, `not_installed`.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly kind: 'gone' | 'refused' | 'unauthorized' | 'busy' | 'unknown' | 'down';
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly code: string | undefined;
  constructor(
    kind: ProviderError['kind'],
    message: string,
    options: { readonly status?: number; readonly retryAfterMs?: number; readonly code?: string } = {},
  ) {
    super(message);
    this.kind = kind;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.code = options.code;
  }
}
