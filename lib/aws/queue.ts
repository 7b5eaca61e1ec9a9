import {
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { MessageGone, type Queue } from '../kernel/ports.ts';
import { gather } from './gather.ts';

/**
 * The queue port over one standard SQS queue: JSON bodies, at most 1 MiB. `MessageGroupId` on a standard queue makes it
 * a fair queue: a tenant with a backlog does not delay the others.
 *
 * Sends that meet while one is out go as one batch, which costs one request: a herd of fires needs a third of the requests.
 *
 * SQS limits: `DelaySeconds` 0 to 900; visibility 0 to 43,200 s, counted from the call, and 12 hours in all since the
 * message was received.
 */
export const makeQueue = <Message>(options: {
  readonly client: SQSClient;
  readonly queueUrl: string;
}): Queue<Message> => {
  const { client, queueUrl: QueueUrl } = options;
  const sendAlone = async (entry: Entry): Promise<Error | undefined> => {
    try {
      await client.send(new SendMessageCommand({ QueueUrl, ...entry }));
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  };
  const send = gather<Entry>(MOST_TOGETHER, async (entries) => {
    if (entries.length === 1) return Promise.all(entries.map(sendAlone));
    const Entries = entries.map((entry, index) => ({ Id: String(index), ...entry }));
    const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    const left = new Set(Failed.map(({ Id }) => Id));
    // The SDK tries a request again, but not an entry that SQS did not take.
    return Promise.all(entries.map((entry, index) => (left.has(String(index)) ? sendAlone(entry) : undefined)));
  });
  return {
    /** @throws TypeError for a delay out of range or an empty tenant */
    async send(message, { delaySeconds, tenant }) {
      checkSeconds('delaySeconds', delaySeconds, 900);
      if (tenant === '') throw new TypeError('tenant is empty; it becomes the MessageGroupId.');
      await send({ MessageBody: asciiJson(message), DelaySeconds: delaySeconds, MessageGroupId: tenant });
    },
    async changeVisibility(ReceiptHandle, seconds) {
      checkSeconds('seconds', seconds, 43_200);
      try {
        await client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: seconds }));
      } catch (error) {
        if (error instanceof Error && GONE.has(error.name)) throw new MessageGone(error.message, { cause: error });
        throw error;
      }
    },
  };
};

interface Entry {
  readonly MessageBody: string;
  readonly DelaySeconds: number;
  readonly MessageGroupId: string;
}

/** `SendMessageBatch` takes ten, and 1 MiB in all: ours are ids and numbers. */
const MOST_TOGETHER = 10;

/**
 * SQS says of a deleted message "does not exist or is not available for visibility timeout change"; of a handle that a later
 * receipt replaced it may say that it is not in flight.
 */
const GONE: ReadonlySet<string> = new Set([
  'InvalidParameterValue',
  'InvalidParameterValueException',
  'MessageNotInflight',
  'ReceiptHandleIsInvalid',
]);

/** JSON whose text is escaped to ASCII: SQS takes the characters of XML 1.0 only, so not U+FFFE or U+FFFF. */
const asciiJson = (message: unknown): string =>
  JSON.stringify(message).replaceAll(
    /[^\x20-\x7e]/g, // each half of a surrogate pair by itself, as JSON has it
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const checkSeconds = (name: string, value: number, most: number): void => {
  if (!Number.isInteger(value) || value < 0 || value > most) {
    throw new TypeError(`${name} is ${value}; expected a whole number from 0 to ${most}.`);
  }
};
