import { describe, expect, it } from 'vitest';
import type { Queue } from '../../lib/kernel/ports.ts';
import { refusal } from '../support/refusal.ts';

export interface TestMessage {
  readonly orgId: string;
  readonly seq: number;
  readonly note?: string;
}

export interface QueueSubject {
  readonly queue: Queue<TestMessage>;
  /** What was sent and not asked for yet, in any order. */
  arrived(): Promise<readonly { readonly message: unknown; readonly tenant: string }[]>;
}

const seqOf = ({ message }: { readonly message: unknown }): number => (message as TestMessage).seq;

/** What every queue behind the port does with what it is given. */
export const queueContract = (subject: () => QueueSubject): void => {
  describe('sending', () => {
    it('carries a message as JSON, for its tenant', async () => {
      const message = { orgId: 'org_1', seq: 7, note: 'Grüße 🎈 "x"\n\uffff' };
      await subject().queue.send(message, { delaySeconds: 0, tenant: 'org_1' });
      expect(await subject().arrived()).toEqual([{ message, tenant: 'org_1' }]);
    });

    it('carries a herd, each message once and for its tenant', async () => {
      const herd = Array.from({ length: 25 }, (_, seq) => ({ orgId: `org_${seq % 3}`, seq }));
      await Promise.all(
        herd.map((message) => subject().queue.send(message, { delaySeconds: 0, tenant: message.orgId })),
      );
      const arrived = await subject().arrived();
      expect(arrived.toSorted((a, b) => seqOf(a) - seqOf(b))).toEqual(
        herd.map((message) => ({ message, tenant: message.orgId })),
      );
    });

    it('takes the longest delay', async () => {
      await subject().queue.send({ orgId: 'org_1', seq: 1 }, { delaySeconds: 900, tenant: 'org_1' });
      expect(await subject().arrived()).toHaveLength(1);
    });

    it.each([901, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
      'refuses a delay of %s seconds',
      async (delaySeconds) => {
        const message = { orgId: 'org_1', seq: 1 };
        const error = await refusal(subject().queue.send(message, { delaySeconds, tenant: 'org_1' }));
        expect(String(error)).toMatch(/delaySeconds .* 0 to 900/);
        expect(await subject().arrived()).toEqual([]);
      },
    );

    it('refuses a message without a tenant', async () => {
      const error = await refusal(subject().queue.send({ orgId: '', seq: 1 }, { delaySeconds: 0, tenant: '' }));
      expect(String(error)).toMatch(/tenant/);
      expect(await subject().arrived()).toEqual([]);
    });
  });

  describe('changing visibility', () => {
    it.each([43_201, -1, 0.5, Number.NaN])('refuses %s seconds', async (seconds) => {
      expect(String(await refusal(subject().queue.changeVisibility('handle', seconds)))).toMatch(/0 to 43200/);
    });
  });
};
