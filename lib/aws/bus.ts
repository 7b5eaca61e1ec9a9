import { type EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import type { Bus } from '../kernel/ports.ts';
import { BUS } from '../names.ts';

/**
 * The bus port over EventBridge. One event a request (an entry is at most 1 MB). PutEvents answers 200 even when it
 * took nothing, so the count of failed entries is the answer. Delivery is at least once: the detail carries an id.
 */
export const makeBus = (options: { readonly client: EventBridgeClient; readonly busName: string }): Bus => ({
  async publish({ detailType, detail }) {
    const answer = await options.client.send(
      new PutEventsCommand({
        Entries: [
          {
            EventBusName: options.busName,
            Source: BUS.source,
            DetailType: detailType,
            Detail: JSON.stringify(detail),
          },
        ],
      }),
    );
    if ((answer.FailedEntryCount ?? 0) > 0) {
      const { ErrorCode = 'unknown', ErrorMessage = '' } = answer.Entries?.[0] ?? {};
      throw new Error(`EventBridge did not take "${detailType}": ${ErrorCode} ${ErrorMessage}`.trim());
    }
  },
});
