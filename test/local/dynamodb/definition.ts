/** Two sparse KEYS_ONLY indexes, one keyed by a number, and one with everything. */
export const TABLE = 'things';
export const DEFINITION = {
  TableName: TABLE,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    ...['pk', 'sk', 'ownerPk', 'ownerSk', 'duePk'].map((name) => ({ AttributeName: name, AttributeType: 'S' })),
    { AttributeName: 'dueAt', AttributeType: 'N' },
  ],
  KeySchema: keys('pk', 'sk'),
  GlobalSecondaryIndexes: [
    { IndexName: 'byOwner', KeySchema: keys('ownerPk', 'ownerSk'), Projection: { ProjectionType: 'KEYS_ONLY' } },
    { IndexName: 'due', KeySchema: keys('duePk', 'dueAt'), Projection: { ProjectionType: 'ALL' } },
  ],
};

export function keys(hash: string, range: string) {
  return [
    { AttributeName: hash, KeyType: 'HASH' },
    { AttributeName: range, KeyType: 'RANGE' },
  ];
}
