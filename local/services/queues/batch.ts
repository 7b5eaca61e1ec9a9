import { AwsError } from '../../gateway/aws-error.ts';
import { type JsonObject, listOf, objectOf } from '../../gateway/json.ts';
import { missingParameter, queueError } from './queue-errors.ts';

/**
 * Runs a batch: each entry by itself, refusals beside successes.
 * @throws AwsError when the batch as a whole is not acceptable
 */
export function runBatch(input: JsonObject, one: (entry: JsonObject) => JsonObject): JsonObject {
  const successful: JsonObject[] = [];
  const failed: JsonObject[] = [];
  for (const entry of batchEntries(input)) {
    const id = entry.Id;
    try {
      successful.push({ Id: id, ...one(entry) });
    } catch (error) {
      if (!(error instanceof AwsError)) throw error;
      failed.push({ Id: id, SenderFault: true, Code: error.code, Message: error.message });
    }
  }
  return { Successful: successful, Failed: failed };
}

/** The entries of a batch: 1 to 10, each with an id of its own. */
export function batchEntries(input: JsonObject): JsonObject[] {
  if (!Array.isArray(input.Entries)) throw missingParameter('Entries');
  const entries = listOf(input.Entries).map(objectOf);
  if (entries.length === 0) {
    throw queueError('EmptyBatchRequest', 'There should be at least one entry in the request.');
  }
  if (entries.length > 10) {
    throw queueError(
      'TooManyEntriesInBatchRequest',
      `Maximum number of entries per request are 10. You have sent ${entries.length}.`,
    );
  }
  const ids = new Set<unknown>();
  for (const { Id: id } of entries) {
    if (typeof id !== 'string' || !/^[\w-]{1,80}$/.test(id)) {
      throw queueError(
        'InvalidBatchEntryId',
        'A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.',
      );
    }
    if (ids.has(id)) throw queueError('BatchEntryIdsNotDistinct', `Id ${id} repeated.`);
    ids.add(id);
  }
  return entries;
}
