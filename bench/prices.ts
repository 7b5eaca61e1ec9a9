/** What AWS charges, in US dollars, us-east-1, on demand, without free tier. */
export interface Prices {
  /** When the numbers were looked at. */
  readonly asOf: string;
  readonly sources: readonly string[];
  readonly dynamoDbWriteUnit: number;
  readonly dynamoDbReadUnit: number;
  /** One request of up to 64 KB to a standard queue. */
  readonly sqsRequest: number;
  /** On top, for requests about messages with a `MessageGroupId` on a standard queue (fair queues). */
  readonly sqsFairRequest: number;
  readonly lambdaRequest: number;
  /** A custom event put on a bus, of up to 64 KB. */
  readonly busEvent: number;
  readonly lambdaArm64GbSecond: number;
  /** Ingestion into the standard class. */
  readonly logsGb: number;
}

const PER_MILLION = 1e-6;

/** The free tiers are left out: they do not grow with use. */
export const PRICES: Prices = {
  asOf: '2026-11-30',
  sources: [
    'https://aws.amazon.com/dynamodb/pricing/on-demand/ (price list of 2026-09-11: $0.625 a million write units, $0.125 read)',
    'https://aws.amazon.com/sqs/pricing/ ($0.40 a million requests, fair queues $0.10 more since July 2025)',
    'https://aws.amazon.com/lambda/pricing/ ($0.20 a million requests, $0.0000133334 a GB-second on arm64)',
    'https://aws.amazon.com/eventbridge/pricing/ ($1.00 a million custom events)',
    'https://aws.amazon.com/cloudwatch/pricing/ ($0.50 a GB of logs)',
  ],
  dynamoDbWriteUnit: 0.625 * PER_MILLION,
  dynamoDbReadUnit: 0.125 * PER_MILLION,
  sqsRequest: 0.4 * PER_MILLION,
  sqsFairRequest: 0.1 * PER_MILLION,
  lambdaRequest: 0.2 * PER_MILLION,
  busEvent: 1 * PER_MILLION,
  lambdaArm64GbSecond: 0.0000133334,
  logsGb: 0.5,
};
