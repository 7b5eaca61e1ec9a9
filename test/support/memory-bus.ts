import type { Bus } from '../../lib/kernel/ports.ts';

export type Published = Parameters<Bus['publish']>[0];

export interface MemoryBus extends Bus {
  readonly published: readonly Published[];
}

/** Records what is published, as JSON would carry it. */
export const makeMemoryBus = (): MemoryBus => {
  const published: Published[] = [];
  return {
    published,
    async publish(event) {
      published.push(JSON.parse(JSON.stringify(event)) as Published);
    },
  };
};
