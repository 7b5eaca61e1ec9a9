import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { LOCAL_ACCESS, startJsonWire, type WireAnswer } from '../support/json-wire.ts';

export interface Call {
  readonly operation: string;
  readonly input: { readonly [member: string]: unknown };
}

/** An error as DynamoDB sends it. */
export const dynamoError = (name: string, more: object = {}): WireAnswer => ({
  status: 400,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: `${name} for a test`, ...more },
});

export const cancelled = (...reasons: readonly object[]): WireAnswer =>
  dynamoError('TransactionCanceledException', { CancellationReasons: reasons });

export const fine = (body: object = {}): WireAnswer => ({ status: 200, body });

/**
 * A document client whose requests are answered from a script, over the wire, because conflicts, throttles and leftovers
 * cannot be had from a local DynamoDB at will. The last answer is repeated.
 */
export const scripted = async (...answers: readonly WireAnswer[]) => {
  const calls: Call[] = [];
  const wire = await startJsonWire((operation, input) => {
    calls.push({ operation, input });
    return answers[Math.min(calls.length, answers.length) - 1] ?? fine();
  });
  const inner = new DynamoDBClient({ ...LOCAL_ACCESS, endpoint: wire.url, maxAttempts: 1 });
  return {
    client: DynamoDBDocumentClient.from(inner),
    calls,
    async close() {
      inner.destroy();
      await wire.close();
    },
  };
};
