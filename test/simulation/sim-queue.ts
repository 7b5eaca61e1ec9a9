import { MessageGone } from '../../lib/kernel/ports.ts';
import type { World } from './world.ts';

export interface Received<Body> {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly receiveCount: number;
  readonly body: Body;
}

interface Message<Body> {
  readonly id: string;
  readonly body: Body;
  receives: number;
  /** Changes with each receipt and each change of visibility, so that an older timer means nothing. */
  timer: number;
}

export interface QueueOptions<Body> {
  readonly name: string;
  readonly visibilitySeconds: number;
  readonly maxReceiveCount: number;
  readonly deliver: (received: Received<Body>) => void;
  readonly dead: (body: Body, id: string) => void;
}

/** A standard queue: delays, visibility, receive counts, redrive; copies are made by the faults. */
export class SimQueue<Body> {
  sends = 0;
  readonly sent: Body[] = [];
  readonly #world: World;
  readonly #options: QueueOptions<Body>;
  readonly #messages = new Map<string, Message<Body>>();
  #ids = 0;

  constructor(world: World, options: QueueOptions<Body>) {
    this.#world = world;
    this.#options = options;
  }

  get size(): number {
    return this.#messages.size;
  }

  send(body: Body, delaySeconds: number): void {
    this.sends++;
    this.sent.push(body);
    const message: Message<Body> = { id: `${this.#options.name}-${this.#ids++}`, body, receives: 0, timer: 0 };
    this.#messages.set(message.id, message);
    this.#showAfter(message, delaySeconds * 1000 + this.#world.random() * 40);
  }

  delete(id: string): void {
    this.#messages.delete(id);
  }

  changeVisibility(receiptHandle: string, seconds: number): void {
    const message = this.#messages.get(receiptHandle.slice(0, receiptHandle.indexOf('/')));
    if (message === undefined) throw new MessageGone('The message is deleted.');
    this.#showAfter(message, seconds * 1000);
  }

  /** At-least-once: the same message, once more, now. */
  duplicate(id: string): void {
    const message = this.#messages.get(id);
    if (message === undefined) return;
    this.#world.after(this.#world.random() * 400, () => this.#hand(message, Math.max(1, message.receives)));
  }

  /** Everything that waits in the queue is shown at once, in another order. */
  shuffle(): void {
    for (const message of this.#messages.values()) {
      if (message.receives === 0) this.#showAfter(message, this.#world.random() * 50);
    }
  }

  #showAfter(message: Message<Body>, ms: number): void {
    const timer = ++message.timer;
    this.#world.after(ms, () => {
      if (message.timer !== timer || !this.#messages.has(message.id)) return;
      if (message.receives >= this.#options.maxReceiveCount) {
        this.#messages.delete(message.id);
        this.#options.dead(message.body, message.id);
        return;
      }
      message.receives++;
      this.#showAfter(message, this.#options.visibilitySeconds * 1000);
      this.#hand(message, message.receives);
    });
  }

  #hand(message: Message<Body>, receiveCount: number): void {
    this.#options.deliver({
      messageId: message.id,
      receiptHandle: `${message.id}/${message.receives}`,
      receiveCount,
      body: message.body,
    });
  }
}
