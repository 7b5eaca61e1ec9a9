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
  | { readonly see: 'keep'; readonly providerId: string; readonly event: string; readonly action?: string }
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
  /** State of the source itself: installation suspended, removed, repositories renamed or taken away. */
  | {
      readonly make: 'source';
      readonly state?: Source['state'];
      readonly reason?: string;
      readonly repositories?: Source['repositories'];
    };

export type Resolution =
  | { readonly resolve: 'outcomes'; readonly outcomes: readonly Outcome[] }
  | { readonly resolve: 'drop'; readonly code: string; readonly message: string };

export interface Channel {
  readonly kind: SourceKind;
  /** Over the raw bytes, against each signing secret, in constant time. */
  verify(raw: RawDelivery, secrets: SourceSecrets): Verified;
  look(raw: RawDelivery, source: Source): Sight;
  /** @throws ProviderError when the provider has to be asked and does not answer: it comes again */
  resolve(raw: RawDelivery, source: Source, deliveryId: string, provider: Provider): Promise<Resolution>;
  /** Whether the text names us, as a whole word outside of code, quotes and comments. */
  names(text: string, source: Source): boolean;
}

/** A comment as the provider shows it. */
export interface RemotePost {
  readonly id: string;
  readonly url?: string | undefined;
  readonly body: string;
  readonly authorId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Asks one provider in the name of one source. Every method is at least one request and never repeats a write by itself. */
export interface Provider {
  /** @throws ProviderError */
  post(to: ReplyTo, body: string, key: string): Promise<{ readonly id: string; readonly url?: string }>;
  /** @throws ProviderError */
  edit(to: ReplyTo, id: string, body: string): Promise<void>;
  /** Comments in a discussion since a moment, oldest first; a list, never a search. @throws ProviderError */
  list(to: ReplyTo, sinceMs: number): Promise<readonly RemotePost[]>;
  /** @throws ProviderError */
  requestReview(to: ReplyTo, reviewers: readonly string[]): Promise<void>;
  /** Any reading: a path of the provider's API below the repository, with query. @throws ProviderError */
  get(repositoryId: string, path: string, query?: { readonly [name: string]: string }): Promise<unknown>;
  /** One cheap request that shows whether the credentials work. @throws ProviderError */
  check(): Promise<{ readonly login?: string }>;
}

/** Makes the provider of a source with no more rights than `verb` on `repositoryId` needs. */
export type ProviderOf = (
  source: Source,
  secrets: SourceSecrets,
  needs: { readonly verb: Verb; readonly repositoryId?: string | undefined },
) => Provider;

/**
 * `gone`: the place is not there (404, 410): final. `refused`: the provider will not, and a repeat does not help (403 of a
 * suspended installation, 422). `unauthorized`: the credentials. `busy`: later, after `retryAfterMs`. `unknown`: no answer
 * came to a write, it may have happened. `down`: no answer to a reading, 5xx.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly kind: 'gone' | 'refused' | 'unauthorized' | 'busy' | 'unknown' | 'down';
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  constructor(
    kind: ProviderError['kind'],
    message: string,
    options: { readonly status?: number; readonly retryAfterMs?: number } = {},
  ) {
    super(message);
    this.kind = kind;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}
