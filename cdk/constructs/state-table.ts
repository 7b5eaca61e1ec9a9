import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, ProjectionType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { TABLE } from '../../lib/names.ts';

export interface StateTableProps {
  readonly name: string;
  /** Ceilings of the on-demand mode, request units a second. */
  readonly maxReadRequestUnits: number;
  readonly maxWriteRequestUnits: number;
}

const text = (name: string) => ({ name, type: AttributeType.STRING });

/** The single table. It outlives the stack and cannot be deleted by accident: all that users have is in it. */
export class StateTable extends Construct {
  readonly table: TableV2;

  constructor(scope: Construct, id: string, props: StateTableProps) {
    super(scope, id);
    this.table = new TableV2(this, 'Table', {
      tableName: props.name,
      partitionKey: text(TABLE.pk),
      sortKey: text(TABLE.sk),
      globalSecondaryIndexes: [TABLE.byOwner, TABLE.due].map(({ index, pk, sk }) => ({
        indexName: index,
        partitionKey: text(pk),
        sortKey: text(sk),
        // An index finds candidates, the item decides: keys are all it has to hold.
        projectionType: ProjectionType.KEYS_ONLY,
      })),
      timeToLiveAttribute: TABLE.ttl,
      // On demand has no ceiling of its own, so a runaway loop would have none either.
      billing: Billing.onDemand({
        maxReadRequestUnits: props.maxReadRequestUnits,
        maxWriteRequestUnits: props.maxWriteRequestUnits,
      }),
      // cdk-nag's DDB3 does not look at AWS::DynamoDB::GlobalTable; test/infra does.
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }
}
