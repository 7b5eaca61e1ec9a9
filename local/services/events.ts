import { randomUUID } from 'node:crypto';
import type { BusEvent } from '../events/bus.ts';
import { AwsError } from '../gateway/aws-error.ts';
import { isObject, type JsonObject, listOf, objectOf, stringOf } from '../gateway/json.ts';
import { LOCAL } from '../names.ts';

/** EventBridge's `PutEvents`. */
export interface Events {
  /** @throws AwsError when the request as a whole is not acceptable; a bad entry fails by itself */
  handle(operation: string, input: JsonObject): Promise<JsonObject>;
}

/** All entries of one request together may have this many bytes. */
const MAX_REQUEST_BYTES = 1_048_576;

/**
 * @param options.busNames buses of the template; `default` is always there
 * @param options.onEvent takes an accepted event; its failure fails the entry
 */
export function createEvents(options: {
  busNames: readonly string[];
  onEvent: (busName: string, event: BusEvent) => void | Promise<void>;
  now?: () => number;
}): Events {
  const now = options.now ?? Date.now;
  const buses = new Set([...options.busNames, 'default']);

  const putOne = async (entry: JsonObject): Promise<JsonObject> => {
    const given = stringOf(entry.EventBusName) ?? 'default';
    const bus = given.slice(given.lastIndexOf('/') + 1);
    // AWS drops an event for an unknown bus without a word; a mistake in a name is worth an error here.
    if (!buses.has(bus)) return failure('ResourceNotFoundException', `Event bus ${bus} does not exist.`);
    for (const name of ['Source', 'DetailType', 'Detail']) {
      const value = entry[name];
      if (typeof value !== 'string' || value === '') {
        return failure('InvalidArgument', `Parameter ${name} is not valid. Reason: ${name} is a required argument.`);
      }
    }
    const source = String(entry.Source);
    if (source.startsWith('aws.')) {
      return failure('NotAuthorizedForSourceException', 'Not authorized for the source.');
    }
    const detail = parseDetail(String(entry.Detail));
    if (detail === undefined) return failure('MalformedDetail', 'Detail is malformed.');
    const seconds = entry.Time;
    const time = new Date(typeof seconds === 'number' ? seconds * 1000 : now());
    const event: BusEvent = {
      version: '0',
      id: randomUUID(),
      'detail-type': String(entry.DetailType),
      source,
      account: LOCAL.account,
      time: `${time.toISOString().slice(0, 19)}Z`,
      region: LOCAL.region,
      resources: listOf(entry.Resources).filter((resource) => typeof resource === 'string'),
      detail,
    };
    try {
      await options.onEvent(bus, event);
    } catch {
      return failure('InternalFailure', 'The event could not be taken.');
    }
    return { EventId: event.id };
  };

  return {
    async handle(operation, input) {
      if (operation !== 'PutEvents') {
        throw new AwsError(
          'UnknownOperationException',
          `The local event buses do not have the operation ${operation}.`,
        );
      }
      const entries = listOf(input.Entries).map(objectOf);
      if (entries.length < 1 || entries.length > 10) {
        throw new AwsError(
          'ValidationException',
          `1 validation error detected: Value at 'entries' failed to satisfy constraint: Member must have length from 1 to 10, not ${entries.length}.`,
        );
      }
      const size = entries.reduce((sum, entry) => sum + entrySize(entry), 0);
      if (size > MAX_REQUEST_BYTES) {
        throw new AwsError(
          'ValidationException',
          `Total size of the entries in the request is over the limit: ${size} of ${MAX_REQUEST_BYTES} bytes.`,
        );
      }
      const results: JsonObject[] = [];
      for (const entry of entries) results.push(await putOne(entry));
      return { FailedEntryCount: results.filter((one) => 'ErrorCode' in one).length, Entries: results };
    },
  };
}

const failure = (code: string, message: string): JsonObject => ({ ErrorCode: code, ErrorMessage: message });

function parseDetail(text: string): JsonObject | undefined {
  try {
    const detail: unknown = JSON.parse(text);
    return isObject(detail) ? detail : undefined;
  } catch {
    return undefined;
  }
}

/** @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevent-size.html */
function entrySize(entry: JsonObject): number {
  const texts = [entry.Source, entry.DetailType, entry.Detail, ...listOf(entry.Resources)];
  const bytes = texts.reduce<number>((sum, text) => sum + Buffer.byteLength(stringOf(text) ?? ''), 0);
  return bytes + (entry.Time === undefined ? 0 : 14);
}
