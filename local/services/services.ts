import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BusEvent } from '../events/bus.ts';
import type { DynamoDbService, Services } from '../gateway/dispatch.ts';
import { LOCAL } from '../names.ts';
import type { Assembly } from '../template/assembly.ts';
import { createEvents } from './events.ts';
import type { InvokeOptions } from './invoke.ts';
import { createObjects } from './objects.ts';
import { createParameters } from './parameters.ts';
import { createQueues } from './queues/queues.ts';

export interface ServicesOptions {
  /** Folder of all state; made when it is missing. */
  readonly home: string;
  readonly assembly: Assembly;
  /** Where the gateway will listen: the address in queue URLs. */
  readonly gatewayUrl: string;
  readonly dynamodb: DynamoDbService;
  readonly invoke: InvokeOptions['invoke'];
  readonly invokeAsync: InvokeOptions['invokeAsync'];
  readonly onEvent: (busName: string, event: BusEvent) => void | Promise<void>;
  readonly now?: () => number;
}

/** Opens everything that stands behind the gateway, with the queues and buckets of the template in it. */
export async function openServices(options: ServicesOptions): Promise<Services & { close(): Promise<void> }> {
  const { home, assembly, gatewayUrl } = options;
  const clock = options.now === undefined ? {} : { now: options.now };
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const urlOf = (name: string): string => `${gatewayUrl}/${LOCAL.account}/${name}`;
  const queues = createQueues({ file: join(home, 'queues.sqlite'), urlOf, ...clock });
  for (const queue of assembly.queues) queues.ensure(queue);
  const objects = await createObjects({ dataDir: join(home, 'objects') });
  for (const { name } of assembly.buckets) objects.ensureBucket(name);
  return {
    dynamodb: options.dynamodb,
    queues,
    objects,
    parameters: createParameters({ file: join(home, 'parameters.json'), ...clock }),
    events: createEvents({ busNames: assembly.buses.map(({ name }) => name), onEvent: options.onEvent, ...clock }),
    functions: {
      functionNames: assembly.functions.map(({ name }) => name),
      invoke: options.invoke,
      invokeAsync: options.invokeAsync,
    },
    async close() {
      queues.close();
      await objects.close();
    },
  };
}
