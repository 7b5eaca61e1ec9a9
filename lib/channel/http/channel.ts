/** Events of any program that can sign: one request is one message (contract, "The Router team"). */
import * as z from 'zod';
import type { Channel, RawDelivery } from '../../router/channel.ts';
import { ACTOR_TYPES } from '../../router/thread/trigger.ts';
import { verifyHmac } from '../hmac.ts';
import { jsonOf } from '../json.ts';

const SIGNATURE = 'x-baton-signature';

const name = z.string().min(1).max(200);

const messageSchema = z.strictObject({
  /** Of the message: a repeat of it is known for 30 days. */
  id: name,
  thread: name,
  actor: z.strictObject({ id: name, type: z.enum(ACTOR_TYPES) }),
  text: z.string().min(1).max(100_000),
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional(),
});

const read = (raw: RawDelivery) => messageSchema.safeParse(jsonOf(raw.body));

export const httpChannel: Channel = {
  kind: 'http',
  keeps: [],
  verify: (raw, { signing }) => verifyHmac({ name: SIGNATURE, value: raw.headers[SIGNATURE] }, raw.body, signing),
  look(raw) {
    const parsed = read(raw);
    if (!parsed.success)
      return { see: 'unreadable', message: `The body is not a message.\n${z.prettifyError(parsed.error)}` };
    return { see: 'keep', providerId: parsed.data.id, event: 'message' };
  },
  async resolve(raw, source, { deliveryId, receivedAt }) {
    const { id, thread, actor, text, url } = messageSchema.parse(jsonOf(raw.body));
    const replyTo = { thread };
    return {
      resolve: 'outcomes',
      outcomes: [
        {
          make: 'trigger',
          thread: { key: `http:${thread}`, title: thread, replyTo, ...(url !== undefined && { url }) },
          trigger: {
            sourceId: source.id,
            scope: 'message',
            kind: 'message',
            actor,
            text,
            ...(url !== undefined && { url }),
            replyTo,
            deliveryId,
            occurredAt: receivedAt,
            objectId: `message/${id}`,
          },
          edited: false,
        },
      ],
    };
  },
  /** Whoever posts here talks to us and to nobody else. */
  names: () => true,
};
