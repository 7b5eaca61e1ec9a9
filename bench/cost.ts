import type { Prices } from './prices.ts';

/** What one step takes. */
export interface StepUse {
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly sqsRequests: number;
  readonly lambdaRequests: number;
  /** GB-seconds of own work: time waiting for the model is not in it. */
  readonly gbSeconds: number;
  /** Bytes that CloudWatch Logs takes in. */
  readonly logBytes: number;
}

export interface StepCost {
  readonly writes: number;
  readonly reads: number;
  readonly queue: number;
  readonly requests: number;
  readonly compute: number;
  readonly logs: number;
  readonly total: number;
}

const MILLION = 1e6;
const GB = 1e9;

/** US dollars for a million such steps. */
export const costPerMillion = (use: StepUse, prices: Prices): StepCost => {
  const parts = {
    writes: use.writeUnits * prices.dynamoDbWriteUnit * MILLION,
    reads: use.readUnits * prices.dynamoDbReadUnit * MILLION,
    queue: use.sqsRequests * (prices.sqsRequest + prices.sqsFairRequest) * MILLION,
    requests: use.lambdaRequests * prices.lambdaRequest * MILLION,
    compute: use.gbSeconds * prices.lambdaArm64GbSecond * MILLION,
    logs: (use.logBytes / GB) * prices.logsGb * MILLION,
  };
  return { ...parts, total: Object.values(parts).reduce((sum, part) => sum + part, 0) };
};

/** What one event of the platform takes, whatever functions it passes through. */
export interface EventUse {
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly sqsRequests: number;
  readonly busEvents: number;
  readonly lambdaRequests: number;
  readonly gbSeconds: number;
}

/** The usual pace of a run: two seconds of pause, three for the model. */
export const PACE = { stepsPerMinute: 12 } as const;

const THOUSAND = 1e3;

/** US dollars for a thousand of such events. Logs are not in it. */
export const costPerThousand = (use: EventUse, prices: Prices): number =>
  THOUSAND *
  (use.writeUnits * prices.dynamoDbWriteUnit +
    use.readUnits * prices.dynamoDbReadUnit +
    use.sqsRequests * (prices.sqsRequest + prices.sqsFairRequest) +
    use.busEvents * prices.busEvent +
    use.lambdaRequests * prices.lambdaRequest +
    use.gbSeconds * prices.lambdaArm64GbSecond);

/** Memory at which a Lambda function has one whole core; below it has its share. https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
const MB_OF_A_CORE = 1_769;
/**
 * What one request to DynamoDB or SQS takes from a Lambda function in the same region, milliseconds: the "single-digit"
 * of the service's own promise, rounded up from the 3 to 5 that are usual for small requests.
 */
export const NETWORK_MS = 6;

/**
 * Own time of a step on Lambda, milliseconds: its processor time stretched to the share of a core that the memory buys,
 * and its rounds over the network. An estimate, and the only figure of the cost that is not counted.
 * @param cpuMs processor time measured here, milliseconds
 */
export const ownMs = (cpuMs: number, rounds: number, memoryMb: number): number =>
  cpuMs * Math.max(1, MB_OF_A_CORE / memoryMb) + rounds * NETWORK_MS;

export const gbSeconds = (ms: number, memoryMb: number): number => (ms / 1000) * (memoryMb / 1024);

/** Waiting for the model for so long, US dollars a million steps: it depends on the model, so it stands apart. */
export const waitingPerMillion = (seconds: number, memoryMb: number, prices: Prices): number =>
  gbSeconds(seconds * 1000, memoryMb) * prices.lambdaArm64GbSecond * MILLION;

/** CloudWatch Logs counts so many bytes more for each event. https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/cloudwatch_limits_cwl.html */
const PER_EVENT = 26;

/**
 * Bytes CloudWatch Logs takes in for these lines. Lambda adds none of its own to an invocation that ends well, for the
 * functions' system log level is WARN (cdk/constructs/service-function.ts).
 */
export const ingestedBytes = (bytes: number, lines: number): number => bytes + lines * PER_EVENT;

/** Lambda polls a queue with at least so many connections when its mapping has a maximum concurrency. */
const POLLERS = 5;
const LONG_POLL_SECONDS = 20;
const DAY_SECONDS = 86_400;

/** Requests that Lambda's pollers make on idle queues in a day. They are Lambda's own and cannot be counted here. */
export const pollsPerDay = (queues: number): number => (queues * POLLERS * DAY_SECONDS) / LONG_POLL_SECONDS;
