import type { Queue } from '../../lib/kernel/ports.ts';

export interface Sent<Message> {
  readonly message: Message;
  readonly delaySeconds: number;
  readonly tenant: string;
}

export interface MemoryQueue<Message> extends Queue<Message> {
  /** Everything sent and not taken yet, oldest first. */
  readonly sent: readonly Sent<Message>[];
  readonly visibilityChanges: readonly { readonly receiptHandle: string; readonly seconds: number }[];
  /** Removes and answers what was sent since the last `take`. */
  take(): Sent<Message>[];
}

/** Records what is sent; delivery, delays and duplicates are the test's business. */
export const makeMemoryQueue = <Message>(): MemoryQueue<Message> => {
  const sent: Sent<Message>[] = [];
  const visibilityChanges: { readonly receiptHandle: string; readonly seconds: number }[] = [];
  return {
    sent,
    visibilityChanges,
    async send(message, { delaySeconds, tenant }) {
      inRange('delaySeconds', delaySeconds, 900);
      if (tenant === '') throw new RangeError('tenant is empty; it becomes the MessageGroupId.');
      sent.push({ message: JSON.parse(JSON.stringify(message)) as Message, delaySeconds, tenant });
    },
    async changeVisibility(receiptHandle, seconds) {
      inRange('seconds', seconds, 43_200);
      visibilityChanges.push({ receiptHandle, seconds });
    },
    take: () => sent.splice(0),
  };
};

const inRange = (name: string, value: number, most: number): void => {
  if (!Number.isInteger(value) || value < 0 || value > most) {
    throw new RangeError(`${name} is ${value}; expected a whole number from 0 to ${most}.`);
  }
};
