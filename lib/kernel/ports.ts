/** The other ports of the kernel. Each method is one network request. Adapters: `lib/aws/`, `lib/net/`; fakes: `test/support/`. */

/** Milliseconds since the epoch. */
export interface Clock {
  now(): number;
  /** Resolves after `ms` milliseconds, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A wake-up: ids and hints only. The truth is in the table. */
export interface Queue<Message> {
  /**
   * @param delaySeconds 0 to 900, whole
   * @param tenant organisation id, sent as `MessageGroupId`, so that one tenant cannot starve the rest (SQS fair queues)
   */
  send(message: Message, options: { readonly delaySeconds: number; readonly tenant: string }): Promise<void>;
  /**
   * Makes a received message visible again after `seconds` (0 to 43,200), counted from now.
   * @throws MessageGone when the queue does not hold the message any more
   */
  changeVisibility(receiptHandle: string, seconds: number): Promise<void>;
}

/** A copy of a message that was deleted already: at-least-once delivery can hand one out. */
export class MessageGone extends Error {
  override readonly name = 'MessageGone';
}

/** Objects in the bucket. Keys are immutable: a key is written once with one content, so a repeat is harmless. */
export interface Blobs {
  put(key: string, body: Uint8Array, contentType: string): Promise<void>;
  /** `undefined` when there is no such object. */
  get(key: string): Promise<Uint8Array | undefined>;
}

/** Small secrets, write-only for users. */
export interface Secrets {
  /** `undefined` when there is none. */
  get(name: string): Promise<string | undefined>;
  put(name: string, value: string): Promise<void>;
  delete(name: string): Promise<void>;
}

/** Events that leave on the app's bus. `id` makes a repeat recognisable to the receiver. */
export interface Bus {
  publish(event: { readonly detailType: string; readonly detail: { readonly [key: string]: unknown } }): Promise<void>;
}

export interface Log {
  debug(message: string, fields?: { readonly [key: string]: unknown }): void;
  info(message: string, fields?: { readonly [key: string]: unknown }): void;
  warn(message: string, fields?: { readonly [key: string]: unknown }): void;
  error(message: string, fields?: { readonly [key: string]: unknown }): void;
}

export interface Metrics {
  count(name: string, value?: number): void;
}
