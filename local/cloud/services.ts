import { createDynamoDb } from '../dynamodb/dynamodb.ts';
import type { BusEvent } from '../events/bus.ts';
import type { Functions } from '../functions/functions.ts';
import type { Outcome } from '../functions/outcome.ts';
import type { Services } from '../gateway/dispatch.ts';
import type { Home } from '../home/home.ts';
import { LOCAL } from '../names.ts';
import { createEvents } from '../services/events.ts';
import type { Invocation } from '../services/invoke.ts';
import { createObjects } from '../services/objects.ts';
import { createParameters } from '../services/parameters.ts';
import { createQueues } from '../services/queues/queues.ts';
import type { Assembly } from '../template/assembly.ts';
import { returnInFlight } from './return-in-flight.ts';

/** How often expired items are removed. On AWS it may take days; nothing may rest on when. */
const TTL_EVERY_MS = 60_000;

/** What is only there once the gateway is up. */
export interface Above {
  gatewayUrl(): string;
  functions(): Functions;
  onEvent(busName: string, event: BusEvent): void;
}

export interface OpenServices {
  readonly services: Services;
  close(): Promise<void>;
}

/** Opens everything that keeps state, in the home, and makes what the template has. */
export const openServices = async (home: Home, assembly: Assembly, above: Above): Promise<OpenServices> => {
  const { region, account } = LOCAL;
  const objects = await createObjects({ dataDir: home.path('s3') });
  const dynamodb = createDynamoDb({ file: home.path('dynamodb.sqlite'), region, account });
  returnInFlight(home.path('sqs.sqlite'), Date.now());
  const queues = createQueues({
    file: home.path('sqs.sqlite'),
    urlOf: (name) => `${above.gatewayUrl()}/${account}/${name}`,
  });
  const parameters = createParameters({ file: home.path('parameters.json') });
  for (const table of assembly.tables) dynamodb.createTableIfMissing(table.definition, table.ttlAttribute);
  for (const queue of assembly.queues) queues.ensure(queue);
  for (const bucket of assembly.buckets) objects.ensureBucket(bucket.name);
  const expiry = setInterval(() => dynamodb.deleteExpired(), TTL_EVERY_MS);
  const functionNames = assembly.functions.map(({ name }) => name);
  return {
    services: {
      dynamodb,
      queues,
      objects,
      parameters,
      events: createEvents({ busNames: assembly.buses.map(({ name }) => name), onEvent: above.onEvent }),
      functions: {
        functionNames,
        invoke: async (name, payload) => invocation(await above.functions().invoke(name, payload)),
        invokeAsync: (name, payload) => above.functions().invokeAsync(name, payload),
      },
    },
    async close() {
      clearInterval(expiry);
      queues.close();
      await objects.close();
      dynamodb.close();
    },
  };
};

const invocation = (outcome: Outcome): Invocation =>
  outcome.ok
    ? { status: 200, payload: outcome.payload }
    : { status: 200, functionError: 'Unhandled', payload: JSON.stringify(outcome.error) };
